public import Purchases
public import Time
public import Wire

/// A decoded message: its app and environment, its findings, and the content that is new to this build.
public struct DecodedMessage: Sendable {
  public let app: String
  /// Apple's number of the app, if the message has it.
  public let appAppleID: Int64?
  public let environment: Environment
  /// The date of the outermost signature.
  public let signedAt: Timestamp?
  /// The title for lists: "DID_RENEW/BILLING_RECOVERY", "history of 20".
  public private(set) var title: String
  public var findings: Findings
  public internal(set) var survey: UndocumentedContent
  /// The proof of the message.
  public var trust: MessageDecoder.Proof = .signature
  /// The reason to reject it when a back end submits it.
  public var objection: MessageError?

  /// Whether Apple's signature proves it with its environment, as a whole or by its receipt.
  public var isVerified: Bool {
    switch trust {
    case .signature, .receipt, .apple: true
    case .sharedSecret, .none: false
    }
  }

  /// Replaces the texts of the title and the survey, which are shown and stored in clear text.
  package func mapTexts(_ change: (String) -> String) -> Self {
    var reading = self
    reading.title = change(title)
    reading.survey = survey.mapTexts(change)
    return reading
  }

  /// The survey's name for the unread receipts of a body.
  static let further = "furtherReceipts"

  /// Adds the findings of another receipt of the same body; one of another app or environment is only named.
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
