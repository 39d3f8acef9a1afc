import Glibc

/// The memory that this process may use: the machine's, or less where a control group limits it.
///
/// Sources: proc(5) for `/proc/meminfo`, cgroups(7) and the kernel's cgroup-v1/memory.rst and cgroup-v2.rst for the
/// limits. A limit of a parent group holds for its children too.
package struct MachineMemory: Sendable, Equatable {
  /// In bytes; of a control group where that is less than the machine's.
  package let bytes: Int
  /// Whether a control group sets it.
  package let isLimited: Bool

  /// - Parameter root: where `/proc` and the control groups are; another one in tests.
  package init(root: String = "") {
    let installed = Self.installed(root)
    let limit = Self.limits(root).min()
    isLimited = limit.map { $0 < installed } ?? false
    bytes = min(installed, limit ?? installed)
  }

  /// `MemTotal`, in KiB there.
  private static func installed(_ root: String) -> Int {
    let line = lines("\(root)/proc/meminfo").first { $0.hasPrefix("MemTotal:") }
    let kibibytes = line.flatMap { Int($0.filter(\.isNumber)) }
    // Without /proc: what the C library knows.
    return kibibytes.map { $0 << 10 } ?? sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE))
  }

  /// The limits of this process's groups and of those above them, as far as they can be read.
  private static func limits(_ root: String) -> [Int] {
    let mounts = lines("\(root)/proc/self/mountinfo").compactMap(Mount.init)
    var limits: [Int] = []
    for line in lines("\(root)/proc/self/cgroup") {
      // hierarchy:controllers:path; version 2 has the number 0 and names no controllers.
      let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard parts.count == 3 else { continue }
      let isUnified = parts[0] == "0" && parts[1].isEmpty
      guard isUnified || parts[1].split(separator: ",").contains("memory") else { continue }
      let files = isUnified ? ["memory.max", "memory.high"] : ["memory.limit_in_bytes"]
      for mount in mounts where mount.type == (isUnified ? "cgroup2" : "cgroup") && (isUnified || mount.isOfMemory) {
        for folder in mount.folders(of: String(parts[2])) {
          limits += files.compactMap { Self.number("\(root)\(folder)/\($0)") }
        }
      }
    }
    return limits
  }

  /// The number in a file; nil for `max`, and for what version 1 writes for "no limit", which is above any memory.
  private static func number(_ path: String) -> Int? {
    lines(path).first.flatMap { Int($0) }.flatMap { $0 > 0 && $0 < 1 << 60 ? $0 : nil }
  }

  private static func lines(_ path: String) -> [String] {
    guard let bytes = try? Input.read(path, limit: 1 << 20) else { return [] }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  /// A mounted hierarchy of control groups: a line of `/proc/self/mountinfo`.
  private struct Mount {
    /// The group that is mounted: not the topmost one in a container.
    let group: String
    let place: String
    let type: String
    let isOfMemory: Bool

    init?(_ line: String) {
      let sides = line.split(separator: " ").split(separator: "-", maxSplits: 1)
      guard sides.count == 2, let first = sides.first, let last = sides.last, first.count > 4, last.count > 2,
        let type = last.first, type == "cgroup" || type == "cgroup2"
      else { return nil }
      let fields = Array(first)
      (group, place, self.type) = (String(fields[3]), String(fields[4]), String(type))
      isOfMemory = last.last?.split(separator: ",").contains("memory") ?? false
    }

    /// The folders of a group and of those above it; the mounted one alone when the group is not below it.
    func folders(of path: String) -> [String] {
      let prefix = group == "/" ? "" : group
      guard path == group || path.hasPrefix(prefix + "/") else { return [place] }
      var names = path.dropFirst(prefix.count).split(separator: "/").map(String.init)
      var folders: [String] = []
      while true {
        folders.append(([place] + names).joined(separator: "/"))
        guard names.popLast() != nil else { return folders }
      }
    }
  }
}
