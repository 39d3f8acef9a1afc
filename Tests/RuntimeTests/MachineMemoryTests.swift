/// The memory of a made-up machine: what `/proc` and the control groups say there.
@Suite struct `The memory of the machine` {
  private let place = TemporaryDirectory()

  /// Writes a file of the machine.
  private func write(_ text: String, _ path: String) throws {
    let folder = path.split(separator: "/").dropLast().joined(separator: "/")
    _ = FileMetadata.makeDirectory("\(place.path)/\(folder)")
    try OutputFile("\(place.path)/\(path)").write(Array(text.utf8))
  }

  private static let gibibyte = 1 << 30

  private func machine(
    groups: String = "", mounts: String = "", limits: [(path: String, text: String)] = []
  ) throws -> MachineMemory {
    try write("MemFree: 100 kB\nMemTotal:        8388608 kB\nSwapTotal: 9 kB\n", "proc/meminfo")
    try write(groups, "proc/self/cgroup")
    try write(mounts, "proc/self/mountinfo")
    for (path, text) in limits { try write(text, path) }
    return MachineMemory(root: place.path)
  }

  private static let unified = "31 24 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
  private static let first = """
    30 23 0:25 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu
    31 23 0:26 / /sys/fs/cgroup/memory rw,nosuid - cgroup cgroup rw,memory

    """

  @Test func `is what is installed where nothing limits it`() throws {
    #expect(try machine() == machine(groups: "0::/\n", mounts: Self.unified))
    let memory = try machine(
      groups: "0::/user.slice\n", mounts: Self.unified, limits: [("sys/fs/cgroup/user.slice/memory.max", "max\n")])
    #expect(memory.bytes == 8 * Self.gibibyte && !memory.isLimited)
  }

  @Test(
    arguments: [
      ("memory.max", "2147483648\n", 2), ("memory.high", "1073741824\n", 1), ("memory.max", "99999999999999\n", 8),
    ])
  func `is the limit of a group of version 2 where that is lower`(file: String, text: String, gibibytes: Int) throws {
    let memory = try machine(
      groups: "0::/system.slice/switchyard.service\n", mounts: Self.unified,
      limits: [("sys/fs/cgroup/system.slice/switchyard.service/\(file)", text)])
    #expect(memory.bytes == gibibytes * Self.gibibyte && memory.isLimited == (gibibytes < 8))
  }

  @Test func `is the lowest limit of the groups above, too`() throws {
    let memory = try machine(
      groups: "0::/a/b\n", mounts: Self.unified,
      limits: [
        ("sys/fs/cgroup/a/b/memory.max", "4294967296"), ("sys/fs/cgroup/a/memory.max", "3221225472"),
        ("sys/fs/cgroup/memory.max", "max"), ("sys/fs/cgroup/c/memory.max", "1"),
      ])
    #expect(memory.bytes == 3 * Self.gibibyte)
  }

  @Test func `is the limit of a group of version 1, where no limit is a large number`() throws {
    let groups = "9:name=systemd:/\n4:memory:/docker/a1\n1:cpu,cpuacct:/\n0::/\n"
    let limited = try machine(
      groups: groups, mounts: Self.first,
      limits: [
        ("sys/fs/cgroup/memory/docker/a1/memory.limit_in_bytes", "1073741824\n"),
        ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
      ])
    #expect(limited.bytes == Self.gibibyte && limited.isLimited)
    let free = try machine(
      groups: groups, mounts: Self.first,
      limits: [("sys/fs/cgroup/memory/docker/a1/memory.limit_in_bytes", "9223372036854771712\n")])
    #expect(free.bytes == 8 * Self.gibibyte)
  }

  /// Without a namespace for control groups the process is told a path of the host, and its group is mounted as the top.
  @Test func `is found in a container that sees its own group alone`() throws {
    let memory = try machine(
      groups: "4:memory:/docker/a1\n",
      mounts: "31 23 0:26 /docker/a1 /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n",
      limits: [("sys/fs/cgroup/memory/memory.limit_in_bytes", "536870912\n")])
    #expect(memory.bytes == Self.gibibyte / 2)
  }

  @Test func `of this machine is more than nothing`() {
    #expect(MachineMemory().bytes > 64 << 20)
  }
}

@Suite struct `A size on the command line` {
  @Test(
    arguments: [
      ("512M", 512 << 20), ("2G", 2 << 30), ("1t", 1 << 40), ("64KiB", 64 << 10), ("3gb", 3 << 30),
      ("1048576", 1 << 20),
      ("0", 0), ("", nil), ("M", nil), ("-1M", nil), ("1.5G", nil), ("1X", nil), ("99999999999999T", nil), ("1 G", nil),
    ] as [(String, Int?)])
  func `is a number with a unit`(text: String, bytes: Int?) { #expect(ByteSize(text)?.bytes == bytes) }

  @Test(
    arguments: [
      (512 << 20, "512M"), (3 << 29, "1.5G"), (1 << 40, "1T"), (100 << 10, "100K"), (25_140_000_000, "23.4G"),
    ])
  func `is shown to people`(bytes: Int, text: String) { #expect(ByteSize(bytes).description == text) }
}
