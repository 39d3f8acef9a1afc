import JSON
import Mappings
import Purchases
import Receipts
import Signing
import Time
import Wire

/// Reads a receipt that a back end submits, or that a client posted to verifyReceipt.
///
/// A back end's proven receipt is a source, and an unproven one is stored as a stranger's claim. Any other sender's
/// receipt must be proven. A verified receipt without a signed environment, as of iOS 6, is stored as a claim, too. It
/// proves the purchase, and its sender names the environment. Its IDs are seeds, and Apple's history proves the rest.
struct ReceiptSubmissionReader {
  let reader: ReceiptReader
  let vocabulary: Vocabulary
  let message: Digest
  let origin: V1Context
  /// Whether a receipt whose signature was not verified is rejected.
  var requiresProof = false

  func read(_ text: [UInt8]) throws(MessageError) -> DecodedMessage { try read(reader.read(text)) }

  func read(_ reading: ReceiptReadResult) throws(MessageError) -> DecodedMessage {
    let mapping = ReceiptMapping(vocabulary: vocabulary)
    switch reading {
    case .verified(let receipt) where receipt.receipt.environment != nil:
      return try self.reading(receipt.receipt, mapping.findings(of: receipt, message: message), .receipt)
    case .verified(let verified):
      let receipt = verified.receipt
      var findings = unverified(receipt, mapping)
      // The back end names the owner, as with a bare ID: the signature covers only the purchase.
      let originals = findings?.originalTransactionIDs ?? []
      findings?.unplacedOriginals = Set(originals)
      return try self.reading(receipt, findings, .none)
    case .refused(let receipt, let refusal):
      if requiresProof || refusal.code == .xcodeReceipt { throw MessageError(refusal, claimedApp: receipt.bundleID) }
      return try self.reading(receipt, unverified(receipt, mapping), .none)
    case .unreadable(let refusal): throw MessageError(refusal, claimedApp: origin.app)
    }
  }

  /// Returns its unproven content; never of an environment that its unsigned part contradicts.
  private func unverified(_ receipt: Receipt, _ mapping: ReceiptMapping) -> Findings? {
    guard let asked = origin.environment else {
      return mapping.unverifiedFindings(of: receipt, receivedAt: origin.receivedAt, message: message)
    }
    return mapping.unverifiedFindings(
      of: receipt, environment: receipt.claimedEnvironment ?? asked, receivedAt: origin.receivedAt, message: message)
  }

  private func reading(_ receipt: Receipt, _ found: Findings?, _ trust: MessageDecoder.Proof) throws(MessageError)
    -> DecodedMessage
  {
    let app = try origin.app(claimed: [receipt.bundleID])
    if let told = receipt.environment, let asked = origin.environment, told != asked {
      throw MessageError(
        .authentic, .environmentUnknown, "the request says \(asked.rawValue), the receipt is of \(told.rawValue)",
        claimedApp: app)
    }
    guard var findings = found else {
      throw MessageError(
        .authentic, .environmentUnknown,
        "the receipt names no environment; add ?environment=Production or Sandbox if you know it", claimedApp: app)
    }
    guard !findings.purchases.isEmpty else {
      throw MessageError(
        .authentic, .missingIdentity, "no purchase with an id in the receipt; hand in a transaction id instead",
        claimedApp: app)
    }
    findings.claimLinks()
    findings.noteSeeds(userID: nil)
    try MessageError.checkLengths(findings)
    var reading = DecodedMessage(
      app: app, appAppleID: nil, environment: findings.environment, signedAt: receipt.signedAt,
      title: "receipt of \(findings.purchases.count)", findings: findings, survey: UndocumentedContent(), trust: trust)
    if let asked = origin.environment, findings.environment != asked {
      reading.objection = MessageError(
        .authentic, .environmentUnknown,
        "the request says \(asked.rawValue), the unsigned part of the receipt says \(findings.environment.rawValue)",
        claimedApp: app)
    }
    return reading
  }
}
