public import Purchases
public import Time
public import Wire

/// A message understood: whose it is, what it teaches, and what in it was new to this build.
public struct DecodedMessage: Sendable {
  public let app: String
  /// Apple's number for the app, where the message gives one.
  public let appAppleID: Int64?
  public let environment: Environment
  /// When the outermost signature was made.
  public let signedAt: Timestamp?
  /// What to call it in lists: "DID_RENEW/BILLING_RECOVERY", "history of 20".
  public private(set) var title: String
  public var findings: Findings
  public internal(set) var survey: UndocumentedContent
  /// What vouches for it.
  public var trust: MessageDecoder.Proof = .signature
  /// Why it is refused when it is handed in.
  public var objection: MessageError?

  /// Whether Apple's signature proves it, with its environment: the whole, or the receipt in it.
  public var isVerified: Bool {
    switch trust {
    case .signature, .receipt, .apple: true
    case .sharedSecret, .none: false
    }
  }

  /// The same with other texts in its title and its survey, which are shown and written in clear.
  package func mapTexts(_ change: (String) -> String) -> Self {
    var reading = self
    reading.title = change(title)
    reading.survey = survey.mapTexts(change)
    return reading
  }

  /// What the survey calls the receipts of a body that were not read.
  static let further = "furtherReceipts"

  /// The same with what another receipt of the same body teaches; that one is only named where it is of another app or
  /// environment.
  func joined(with other: Self) -> Self {
    var joined = self
    guard other.app == app, other.environment == environment else {
      joined.survey.add(unknown: Self.further)
      return joined
    }
    joined.findings.merge(other.findings)
    joined.survey.add(other.survey)
    return joined
  }
}
