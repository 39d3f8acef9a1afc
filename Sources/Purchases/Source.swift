public import Time

/// The source of a statement, in order of authority.
public enum Source: Int, Hashable, Sendable, CaseIterable, Comparable {
  case unverifiedReceipt = 10
  case verifiedReceipt = 20
  case notificationV1 = 30
  case verifyReceiptAnswer = 40
  /// A transaction or renewal signed by Apple: Notifications V2, App Store Server API, StoreKit 2.
  case signedV2 = 50

  public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }

  /// The name in tables, responses and logs.
  public var name: String {
    switch self {
    case .unverifiedReceipt: "unverifiedReceipt"
    case .verifiedReceipt: "verifiedReceipt"
    case .notificationV1: "notificationV1"
    case .verifyReceiptAnswer: "verifyReceiptAnswer"
    case .signedV2: "signedV2"
    }
  }

  /// Whether an omitted field has a meaning: Apple clears a revocation by its omission from the next payload.
  ///
  /// V1 rows omit cancellation dates arbitrarily.
  public var speaksByAbsence: Bool {
    switch self {
    case .signedV2: true
    case .unverifiedReceipt, .verifiedReceipt, .notificationV1, .verifyReceiptAnswer: false
    }
  }

  /// Whether Apple signed the data.
  ///
  /// A verifyReceipt response may have been changed on its path, and a V1 body has no signature.
  public var isSigned: Bool {
    switch self {
    case .signedV2, .verifiedReceipt: true
    case .unverifiedReceipt, .notificationV1, .verifyReceiptAnswer: false
    }
  }

  /// Whether it votes without a signature: Apple must confirm its changes.
  public var isClaimed: Bool {
    switch self {
    case .notificationV1, .verifyReceiptAnswer: true
    case .unverifiedReceipt, .verifiedReceipt, .signedV2: false
    }
  }

  /// Whether it votes and is not a signed transaction: the App Store Server API must confirm its new data.
  public var asksForConfirmation: Bool { hasVote && self != .signedV2 }

  /// Whether its statements affect ends, refunds and grants.
  ///
  /// False only for unverified receipts.
  public var hasVote: Bool { isSigned || isClaimed }

  /// Whether its dates have milliseconds.
  ///
  /// A receipt, the source of all V1 dates, has whole seconds.
  public var tellsMilliseconds: Bool {
    switch self {
    case .signedV2: true
    case .unverifiedReceipt, .verifiedReceipt, .notificationV1, .verifyReceiptAnswer: false
    }
  }

  /// Returns the effective date of a statement that was received at `receivedAt`.
  ///
  /// An unsigned statement cannot be later than its arrival: it would outrank all later ones.
  public func asOf(_ date: Timestamp, receivedAt: Timestamp) -> Timestamp {
    isSigned ? date : min(date, receivedAt)
  }
}
