public import Purchases
public import Wire

/// The content of one input in the canonical model, with its proof.
public struct ConversionResult: Sendable {
  public var findings: Findings
  public var trust: MessageDecoder.Proof
  /// The content that is new to this build.
  public var survey: UndocumentedContent
  /// The members that the caller added because the input lacks them: `bundleId`, `environment`.
  public var given: [String] = []
  /// The members that only an unsigned part of the input has: the `environment` of iOS 6 receipts.
  public var claimed: [String] = []
  /// The members that neither the input nor the caller has, whose values in `findings` are placeholders.
  public var unknown: [String] = []

  init(
    findings: Findings, trust: MessageDecoder.Proof, survey: UndocumentedContent = UndocumentedContent(),
    given: [String] = [], claimed: [String] = []
  ) {
    self.findings = findings
    self.trust = trust
    self.survey = survey
    self.given = given
    self.claimed = claimed
  }

  init(_ reading: DecodedMessage) {
    self.init(findings: reading.findings, trust: reading.trust, survey: reading.survey)
  }

  /// Adds the content of another part of the same input; throws for another app or environment.
  mutating func add(_ other: ConversionResult) throws(ConversionError) {
    guard (findings.app, findings.environment) == (other.findings.app, other.findings.environment) else {
      throw ConversionError(
        .severalApps,
        "one input speaks of \(findings.app) in \(findings.environment.rawValue) and of \(other.findings.app) in "
          + other.findings.environment.rawValue)
    }
    findings.purchases += other.findings.purchases
    findings.renewals += other.findings.renewals
    findings.appTransactions += other.findings.appTransactions
    findings.events += other.findings.events
    findings.links += other.findings.links
    findings.claimedLinks += other.findings.claimedLinks
    survey.add(other.survey)
  }
}
