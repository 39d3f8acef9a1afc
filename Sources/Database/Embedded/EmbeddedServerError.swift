package struct EmbeddedServerError: Error, Equatable, Sendable, CustomStringConvertible {
  package enum Code: Hashable, Sendable {
    /// mariadbd or mariadb-install-db is missing on this machine.
    case programsMissing
    /// Another Switchyard process holds the directory.
    case inUse(pid: Int32)
    /// A directory could not be created, or another user owns it.
    case directory
    /// This process, or the system, has no file descriptor left.
    case tooManyFiles
    case initializationFailed
    /// The server ended, or did not respond in time.
    ///
    /// The detail has the end of its error log.
    case startFailed
    /// It crashed too often in a row.
    case gaveUp
    /// A second call of start or run, or a call after stop.
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
