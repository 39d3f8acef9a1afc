/// Why the database did not do what was asked: a code to act on, a detail to read.
///
/// Two errors are equal when their codes are. The detail never holds a password or a value of a statement: what the
/// server quotes from a statement is cut out (`RedactedServerMessage`).
package struct DatabaseError: Error, Equatable, Sendable, CustomStringConvertible {
  package enum Code: Hashable, Sendable {
    /// The connection broke, or the server ended it, before or after it did what was asked.
    case connectionLost
    /// Nothing answered at the address, or the server takes no more connections.
    case connectionRefused
    case accessDenied
    case unknownDatabase
    case tlsFailed
    /// A deadline passed: while connecting, while waiting for a pooled connection, or on the server.
    case timedOut
    /// 1213. The transaction is gone already; also how Galera reports a failed certification.
    case deadlock
    /// 1205.
    case lockWaitTimeout
    /// 1020: the row changed since it was read.
    case recordChanged
    /// 1047: a Galera node that is not part of the cluster at the moment.
    case nodeNotReady
    /// 1062.
    case duplicateKey
    /// The connection broke while COMMIT was under way: it may have happened, or not.
    case commitOutcomeUnknown
    /// A value, row, statement or result above a stated limit.
    case tooLarge
    /// A column that is absent, NULL, or of another kind than asked for.
    case column
    /// A call that this client does not allow, such as rows of unequal length.
    case misuse
    /// The body of a transaction gave up for a reason of its own; rolled back, never retried.
    case abandoned
    /// The pool or connection was closed.
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

  /// A body throws this to have its transaction rolled back and not tried again.
  package static func abandoned(_ reason: String) -> Self { Self(.abandoned, reason) }

  /// Whether the whole transaction may simply be run again, because it certainly did not happen.
  ///
  /// True of a lost connection only before COMMIT was sent; after that the code is `commitOutcomeUnknown`.
  package var isRetryable: Bool {
    switch code {
    case .deadlock, .lockWaitTimeout, .recordChanged, .nodeNotReady, .connectionLost, .connectionRefused: true
    case .accessDenied, .unknownDatabase, .tlsFailed, .timedOut, .duplicateKey, .commitOutcomeUnknown, .tooLarge,
      .column, .misuse, .abandoned, .closed, .other:
      false
    }
  }

  /// Whether the server found no room on its disk.
  ///
  /// 1021 and 1114 say so; 1026 and 1030 pass on the number of the operating system's error, 28.
  package var isDiskFull: Bool {
    switch code {
    case .other(1021), .other(1114): true
    case .other(1026), .other(1030): detail.contains("28")
    default: false
    }
  }

  /// Whether the server has ended the transaction by itself, so that nothing more may be said on its behalf.
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
  /// The code for a number of the server (1000 and up, 3000 and up) or of the client library (2000 and up).
  ///
  /// MariaDB Server "Error Codes", MySQL 8 "Server Error Message Reference", Connector/C `errmsg.h`.
  init(number: Int) {
    self =
      switch number {
      // 2014 and 2027: client and server no longer agree on where they are; only a new connection helps.
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
