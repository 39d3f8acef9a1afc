import JSON
import Mappings
import Purchases
import Receipts
import Signing
import Time
import Wire

/// Reads a receipt that a back end hands in: proven, it is a source; unproven, it is kept as a stranger's word.
struct ReceiptEvidence {
  let reader: ReceiptReader
  let vocabulary: Vocabulary
  let message: Digest
  let origin: LegacyOrigin

  func read(_ text: [UInt8]) throws(Refusal) -> Reading {
    let mapping = ReceiptMapping(vocabulary: vocabulary)
    switch reader.read(text) {
    case .verified(let receipt):
      return try reading(
        receipt.receipt, mapping.findings(of: receipt, environment: origin.environment, message: message), .receipt)
    case .refused(let receipt, let refusal):
      if refusal.code == .xcodeReceipt { throw Refusal(refusal, claimedApp: receipt.bundleID) }
      return try reading(
        receipt,
        mapping.unverifiedFindings(
          of: receipt, environment: origin.environment, receivedAt: origin.receivedAt, message: message), .none)
    case .unreadable(let refusal): throw Refusal(refusal, claimedApp: origin.app)
    }
  }

  private func reading(_ receipt: Receipt, _ found: Findings?, _ trust: Adapter.Trust) throws(Refusal) -> Reading {
    let app = try origin.app(claimed: [receipt.bundleID])
    if let told = receipt.environment, let asked = origin.environment, told != asked {
      throw Refusal(
        .authentic, .environmentUnknown, "the request says \(asked.rawValue), the receipt is of \(told.rawValue)",
        claimedApp: app)
    }
    guard var findings = found else {
      throw Refusal(
        .authentic, .environmentUnknown,
        "the receipt names no environment; add ?environment=Production or Sandbox if you know it", claimedApp: app)
    }
    guard !findings.purchases.isEmpty else {
      throw Refusal(
        .authentic, .missingIdentity, "no purchase with an id in the receipt; hand in a transaction id instead",
        claimedApp: app)
    }
    findings.claimLinks()
    findings.noteSeeds(userID: nil)
    try Refusal.checkLengths(findings)
    return Reading(
      app: app, appAppleID: nil, environment: findings.environment, signedAt: receipt.signedAt,
      title: "receipt of \(findings.purchases.count)", findings: findings, survey: Survey(), trust: trust)
  }
}
