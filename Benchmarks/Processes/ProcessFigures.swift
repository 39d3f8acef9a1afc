import Database
import Glibc
import Runtime

/// What the kernel counts of a running process: /proc/PID.
struct ProcessFigures {
  let id: pid_t

  /// The most it ever had in memory, in megabytes: VmHWM.
  func peakMegabytes() throws -> Double {
    let line = try text("status").split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    let words = line?.split { $0 == " " || $0 == "\t" } ?? []
    guard words.count > 1, let kilobytes = Double(words[1]) else { throw BenchmarkError("/proc tells no VmHWM") }
    return kilobytes / 1_024
  }

  /// Sets the peak to what it has in memory now: proc(5), clear_refs.
  func resetPeak() throws {
    let file = unsafe open("/proc/\(id)/clear_refs", O_WRONLY | O_CLOEXEC)
    defer { close(file) }
    guard file >= 0, unsafe write(file, "5", 1) == 1 else { throw BenchmarkError("/proc resets no VmHWM") }
  }

  /// The time it had a core, in the kernel for it too; to a hundredth of a second.
  func processorSeconds() throws -> Double {
    // The name in parentheses may hold spaces: what follows the last of them is counted from field 3.
    let fields = try text("stat").split(separator: ")").last?.split(separator: " ") ?? []
    guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else {
      throw BenchmarkError("/proc tells no processor time")
    }
    return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
  }

  /// The processes that it started and that still run, and those that they started.
  func descendants() throws -> [ProcessFigures] {
    let children = try Files.names(in: "/proc/\(id)/task").flatMap { thread in
      try text("task/\(thread)/children").split(separator: " ").compactMap { pid_t($0) }.map(ProcessFigures.init)
    }
    return try children + children.flatMap { try $0.descendants() }
  }

  private func text(_ file: String) throws -> String {
    String(decoding: try Input.read("/proc/\(id)/\(file)", limit: 1 << 20), as: UTF8.self)
  }
}
