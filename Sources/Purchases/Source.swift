public import Time

/// Who said it, in order of authority.
public enum Source: Int, Hashable, Sendable, CaseIterable, Comparable {
  case unverifiedReceipt = 10
  case verifiedReceipt = 20
  case notificationV1 = 30
  case verifyReceiptAnswer = 40
  /// A transaction or renewal signed by Apple: Notifications V2, App Store Server API, StoreKit 2.
  case signedV2 = 50

  public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }

  /// The name that tables, answers and logs show.
  public var name: String {
    switch self {
    case .unverifiedReceipt: "unverifiedReceipt"
    case .verifiedReceipt: "verifiedReceipt"
    case .notificationV1: "notificationV1"
    case .verifyReceiptAnswer: "verifyReceiptAnswer"
    case .signedV2: "signedV2"
    }
  }

  /// Whether a field that is missing says something: Apple clears a revocation by leaving it out of the next payload.
  ///
  /// V1 rows omit cancellation dates at will.
  public var speaksByAbsence: Bool {
    switch self {
    case .signedV2: true
    case .unverifiedReceipt, .verifiedReceipt, .notificationV1, .verifyReceiptAnswer: false
    }
  }

  /// Whether Apple's signature is on what it says: an answer may have passed through many hands, a V1 body has none.
  public var isSigned: Bool {
    switch self {
    case .signedV2, .verifiedReceipt: true
    case .unverifiedReceipt, .notificationV1, .verifyReceiptAnswer: false
    }
  }

  /// Whether it has a vote and no signature: what it reports as changed is for Apple to confirm.
  public var isClaimed: Bool {
    switch self {
    case .notificationV1, .verifyReceiptAnswer: true
    case .unverifiedReceipt, .verifiedReceipt, .signedV2: false
    }
  }

  /// Whether it has a vote and is no signed transaction: what it reports first is for the App Store Server API to confirm.
  public var asksForConfirmation: Bool { hasVote && self != .signedV2 }

  /// Whether it is heard about ends, refunds and grants: all but a receipt that nobody verified.
  public var hasVote: Bool { isSigned || isClaimed }

  /// Whether its dates are exact; a receipt, which dates all that V1 says, has whole seconds.
  public var tellsMilliseconds: Bool {
    switch self {
    case .signedV2: true
    case .unverifiedReceipt, .verifiedReceipt, .notificationV1, .verifyReceiptAnswer: false
    }
  }

  /// The date that counts of what was received at `receivedAt` and claims to be of `date`.
  ///
  /// What nobody signed cannot be later than its arrival: it would silence all that comes after it.
  public func asOf(_ date: Timestamp, receivedAt: Timestamp) -> Timestamp {
    isSigned ? date : min(date, receivedAt)
  }
}
