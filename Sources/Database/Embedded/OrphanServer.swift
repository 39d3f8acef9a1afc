import Glibc
import Time

/// A server that outlived its parent process (`kill -9`) and still uses the data directory.
///
/// Identified by a process mariadbd or mysqld with this data directory in its command line: a stale pid file could name
/// another process.
struct OrphanServer {
  let id: pid_t

  static func all(onDataDirectory directory: String) -> [OrphanServer] {
    Files.names(in: "/proc").compactMap { pid_t($0) }.filter { isServer($0, on: directory) }.map {
      OrphanServer(id: $0)
    }
  }

  /// Asks it to end and waits.
  ///
  /// Kills it after `grace`. It cannot be adopted: only a parent can wait for a child's end.
  func stop(on directory: String, grace: Interval) async throws(EmbeddedServerError) {
    let start = ContinuousClock.now
    var signals: Int64 = 0
    while Self.isServer(id, on: directory) {
      let waited = Int64((ContinuousClock.now - start) / .milliseconds(1))
      guard waited < grace.milliseconds + 10_000 else {
        throw EmbeddedServerError(.startFailed, "the server \(id) left over on \(directory) cannot be stopped")
      }
      if waited >= signals * 1_000 {  // Again each second, since a starting server can lose the signal.
        kill(id, waited < grace.milliseconds ? SIGTERM : SIGKILL)
        signals += 1
      }
      do { try await Task.sleep(for: .milliseconds(20)) } catch {
        throw EmbeddedServerError(.startFailed, "cancelled while stopping the server \(id) left over on \(directory)")
      }
    }
  }

  private static func isServer(_ id: pid_t, on directory: String) -> Bool {
    // A process that has ended but was not collected has an empty command line.
    guard let line = Files.contents(of: "/proc/\(id)/cmdline", limit: 32 << 10) else { return false }
    let arguments = line.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
    guard let program = arguments.first?.split(separator: "/").last, program == "mariadbd" || program == "mysqld"
    else { return false }
    return arguments.contains("--datadir=\(directory)")
  }
}
