extension Rebuild {
  /// Why a rebuild did not come to its end, apart from errors of the database and of reading a message.
  package struct Failure: Error, Equatable, CustomStringConvertible {
    package enum Code: Sendable {
      /// Another process rebuilds this database at the moment.
      case alreadyRunning
      /// The database that the rebuild would use is not known to be a rebuild's: it is not touched.
      case foreignDatabase
      /// The tables could not be exchanged, and were not.
      case notExchanged
      /// The connection broke during the exchange, or what announces it could not be taken back.
      case exchangeUnknown
      /// The exchange is done, but not everything that arrived meanwhile could be read.
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
