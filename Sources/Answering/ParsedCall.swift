package import LegacyAnswers
package import Purchases
package import Receipts
package import Signing

/// A parsed request with its receipt, proven or not.
package struct ParsedCall: Sendable {
  package let request: VerifyReceiptRequestBody
  /// `nil` without a readable one.
  package let reading: ReceiptReadResult?
  /// The receipt in repaired base64.
  package let text: String
  /// The digest of the repaired base64, the same for every client's spelling.
  package let digest: Digest

  /// Blocks for the time of a signature check, so call it off the serving threads.
  package init(_ body: [UInt8], reader: ReceiptReader, memory: VerifiedReceiptCache) {
    request = VerifyReceiptRequestBody(body)
    guard let data = request.receiptData else {
      (reading, text, digest) = (nil, "", .sha256([]))
      return
    }
    let bytes = Array(data.utf8)
    let asPosted = Digest.sha256(bytes)
    if let receipt = memory.receipt(asPosted) {
      (reading, text, digest) = (.verified(receipt), data, asPosted)
      return
    }
    let reading = reader.read(bytes)
    self.reading = reading
    let isAsMade = if case .verified(let verified) = reading { verified.repairs.isEmpty } else { true }
    if isAsMade, Self.isBare(bytes) {
      (text, digest) = (data, asPosted)
      if case .verified(let verified) = reading { memory.keep(verified, asPosted, bytes: bytes.count) }
    } else {
      text = ReceiptReader.base64(of: bytes) ?? data
      digest = .sha256(Array(text.utf8))
    }
  }

  private static func isBare(_ bytes: [UInt8]) -> Bool {
    guard let first = bytes.first, let last = bytes.last else { return true }
    return first > 0x20 && last > 0x20
  }

  package var proven: Receipt? {
    if case .verified(let verified)? = reading { verified.receipt } else { nil }
  }

  /// The named app, proven or not, only to select the rules.
  package var bundleID: String? { reading?.receipt?.bundleID }

  /// Returns the findings for the checks that precede those with the ledger.
  package func findings(asked environment: Environment) -> RequestValidation {
    var found = RequestValidation(asked: environment, environment: proven?.environment)
    found.isJSON = request.isReadable
    found.hasReceiptData = request.receiptData != nil
    found.refusal = reading?.refusal?.code
    if case .transaction? = proven { found.signsNoEnvironment = true }
    return found
  }
}

extension Receipt {
  /// Whether it contains a period of an auto-renewable subscription.
  var holdsSubscription: Bool {
    switch self {
    case .app(let receipt): receipt.purchases.contains { $0.expiresDate != nil || $0.productType == .autoRenewable }
    case .transaction(let receipt): receipt.expiresDate != nil
    }
  }
}
