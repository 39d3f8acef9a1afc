extension Rebuild {
  /// The reason why a rebuild failed, except errors of the database and of the parsing of a message.
  package struct Failure: Error, Equatable, CustomStringConvertible {
    package enum Code: Sendable {
      case alreadyRunning
      /// The database for the rebuild was not created by a rebuild.
      ///
      /// It is not changed.
      case foreignDatabase
      /// The tables could not be exchanged and are unchanged.
      case notExchanged
      /// The connection broke during the exchange, or the row that announces it could not be deleted.
      case exchangeUnknown
      /// The exchange is done, but not all messages that arrived meanwhile could be read.
      case incomplete
    }

    package let code: Code
    package let detail: String

    init(_ code: Code, _ detail: String) {
      self.code = code
      self.detail = detail
    }

    package static func == (a: Self, b: Self) -> Bool { a.code == b.code }

    package var description: String {
      switch code {
      case .alreadyRunning: "another rebuild of this database is running; nothing was changed"
      case .foreignDatabase:
        """
        the database \(detail) and so may not be a rebuild's to drop; nothing was changed: look at it, move or drop it \
        yourself, then run the rebuild again
        """
      case .notExchanged: "the tables could not be exchanged; nothing was changed: run it again (\(detail))"
      case .exchangeUnknown:
        "the rebuild was cut off during its exchange: purchases may be missing until it is run again (\(detail))"
      case .incomplete:
        "the rebuild is exchanged, but messages that arrived meanwhile are missing; run it again (\(detail))"
      }
    }
  }
}
