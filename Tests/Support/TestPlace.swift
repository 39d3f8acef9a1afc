import Database
import Glibc

/// Where the files of tests are: in memory where there is room, since nothing is shown about disks here.
///
/// SWITCHYARD_TEST_TMP names another directory.
package enum TestPlace {
  /// What each name begins with; the id of the process that made it follows.
  package static let prefix = "switchyard-tests-"
  package static let root: String = {
    if let given = unsafe getenv("SWITCHYARD_TEST_TMP") { return unsafe String(cString: given) }
    let memory = "/dev/shm"
    guard let free = Files.freeBytes(onDiskOf: memory), free >= 4 << 30 else { return "/tmp" }
    return memory
  }()

  /// A path that no other process uses, for something that is to be made.
  static func path(_ name: String = "") -> String { "\(root)/\(prefix)\(getpid())\(name)" }

  /// Removes what killed processes left behind; their servers ended with them.
  static func removeLeftovers() {
    for place in Set([root, "/tmp"]) {
      for name in Files.names(in: place) where name.hasPrefix(prefix) {
        guard let pid = pid_t(name.dropFirst(prefix.count).prefix { $0.isNumber }) else { continue }
        if pid != getpid(), kill(pid, 0) != 0, errno == ESRCH { Files.remove("\(place)/\(name)") }
      }
    }
  }
}
