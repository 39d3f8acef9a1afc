/// Why the private MariaDB could not be started or kept running.
package struct EmbeddedServerError: Error, Equatable, Sendable, CustomStringConvertible {
  package enum Code: Hashable, Sendable {
    /// mariadbd or mariadb-install-db is not on this machine.
    case programsMissing
    /// Another process of ours holds the directory.
    case inUse(pid: Int32)
    /// A directory could not be made, or belongs to somebody else.
    case directory
    /// This process, or the system, has no file descriptor left.
    case tooManyFiles
    case initializationFailed
    /// It ended, or did not answer in time; the detail has the end of its error log.
    case startFailed
    /// It died too often in a row.
    case gaveUp
    /// Asked to start or run twice, or after stop.
    case misuse
  }

  package let code: Code
  package let detail: String

  init(_ code: Code, _ detail: String) {
    self.code = code
    self.detail = detail
  }

  package static func == (a: Self, b: Self) -> Bool { a.code == b.code }

  package var description: String { detail }
}
