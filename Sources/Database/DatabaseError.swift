/// The reason of a database failure: a code for programs, a detail for operators.
///
/// Errors are equal if their codes are. The detail never contains a password or a statement's value: quotations of the
/// server are removed (`RedactedServerMessage`).
package struct DatabaseError: Error, Equatable, Sendable, CustomStringConvertible {
  package enum Code: Hashable, Sendable {
    /// The connection broke, or the server closed it, before or after it executed the statement.
    case connectionLost
    /// No server responded at the address, or the server accepts no more connections.
    case connectionRefused
    case accessDenied
    case unknownDatabase
    case tlsFailed
    /// A deadline passed: while connecting, while waiting for a pooled connection, or on the server.
    case timedOut
    /// 1213.
    ///
    /// The transaction is already rolled back. Galera also reports a failed certification this way.
    case deadlock
    /// 1205.
    case lockWaitTimeout
    /// 1020: the row changed since it was read.
    case recordChanged
    /// 1047: a Galera node that is presently not in the cluster.
    case nodeNotReady
    /// 1062.
    case duplicateKey
    /// The connection broke during COMMIT, whose outcome is unknown.
    case commitOutcomeUnknown
    /// A value, row, statement or result above a limit.
    case tooLarge
    /// A column that is absent, NULL, or of another type than requested.
    case column
    /// A call that this client does not allow, such as rows of unequal length.
    case misuse
    /// The body of a transaction abandoned it for its own reason.
    ///
    /// It is rolled back and never retried.
    case abandoned
    case closed
    /// Any other error of the server or the library, by its number.
    case other(Int)
  }

  package let code: Code
  package let detail: String

  package init(_ code: Code, _ detail: String) {
    self.code = code
    self.detail = detail
  }

  package static func == (a: Self, b: Self) -> Bool { a.code == b.code }

  package static func abandoned(_ reason: String) -> Self { Self(.abandoned, reason) }

  /// Whether the whole transaction can run again, because it certainly did not happen.
  ///
  /// For a lost connection this is true only before COMMIT was sent. After that the code is `commitOutcomeUnknown`.
  package var isRetryable: Bool {
    switch code {
    case .deadlock, .lockWaitTimeout, .recordChanged, .nodeNotReady, .connectionLost, .connectionRefused: true
    case .accessDenied, .unknownDatabase, .tlsFailed, .timedOut, .duplicateKey, .commitOutcomeUnknown, .tooLarge,
      .column, .misuse, .abandoned, .closed, .other:
      false
    }
  }

  /// Whether the server's disk is full.
  ///
  /// The codes 1021 and 1114 mean it. 1026 and 1030 contain the operating system's error number, 28.
  package var isDiskFull: Bool {
    switch code {
    case .other(1021), .other(1114): true
    case .other(1026), .other(1030): detail.contains("28")
    default: false
    }
  }

  /// Whether the server has already ended the transaction, so that no ROLLBACK must follow.
  var endsTransaction: Bool {
    switch code {
    case .deadlock, .connectionLost, .nodeNotReady, .commitOutcomeUnknown, .closed: true
    case .connectionRefused, .accessDenied, .unknownDatabase, .tlsFailed, .timedOut, .lockWaitTimeout,
      .recordChanged, .duplicateKey, .tooLarge, .column, .misuse, .abandoned, .other:
      false
    }
  }

  package var description: String {
    switch code {
    case .abandoned: detail
    case .connectionRefused: "the database does not answer: \(detail); `switchyard doctor` says more"
    default: "\(code): \(detail)"
    }
  }
}

extension DatabaseError.Code {
  /// Creates the code of an error number: the server's (from 1000 and 3000) or the client library's (from 2000).
  ///
  /// MariaDB Server "Error Codes", MySQL 8 "Server Error Message Reference", Connector/C `errmsg.h`.
  init(number: Int) {
    self =
      switch number {
      // 2014 and 2027: client and server are out of sync, which only a new connection fixes.
      case 2006, 2013, 2014, 2027, 2055, 1053, 1077, 1079, 1158, 1159, 1160, 1161, 1152, 1184, 1927, 3169, 4031:
        .connectionLost
      case 2001, 2002, 2003, 2004, 2005, 2009, 2011, 2012, 1040, 1203, 1226: .connectionRefused
      case 1044, 1045, 1142, 1143, 1227, 1251, 1698, 2059, 2061: .accessDenied
      case 1049: .unknownDatabase
      case 2026: .tlsFailed
      case 1969, 3024: .timedOut
      case 1213: .deadlock
      case 1205: .lockWaitTimeout
      case 1020: .recordChanged
      case 1047: .nodeNotReady
      case 1062, 1586: .duplicateKey
      case 1153, 1301, 2020: .tooLarge
      case 2030, 2031, 2032, 2033, 2034, 2035, 2036, 2050, 2051, 2053: .misuse
      default: .other(number)
      }
  }
}
