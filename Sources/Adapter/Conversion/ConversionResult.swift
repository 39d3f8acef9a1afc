public import Purchases
public import Wire

/// What one input says in the canonical model, and how far it can be believed.
public struct ConversionResult: Sendable {
  public var findings: Findings
  public var trust: MessageDecoder.Proof
  /// What in it was new to this build.
  public var survey: UndocumentedContent
  /// What the caller said because the input does not: `bundleId`, `environment`.
  public var given: [String] = []
  /// What only an unsigned part of the input says: the `environment` of iOS 6 receipts.
  public var claimed: [String] = []
  /// What neither the input nor the caller says: what `findings` has in its place means nothing.
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

  /// Takes in what another part of the same input says; of another app or environment it is refused.
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
