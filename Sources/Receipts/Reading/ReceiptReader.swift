import Purchases
public import Signing
import Time

/// A receipt whose signature was proven; only the reader in this file makes one.
public struct VerifiedReceipt: Sendable {
  public let receipt: Receipt
  public let proof: SignatureProof
  /// What had to be mended before it could be read.
  public let repairs: Set<ReceiptRepair>

  fileprivate init(receipt: Receipt, proof: SignatureProof, repairs: Set<ReceiptRepair>) {
    self.receipt = receipt
    self.proof = proof
    self.repairs = repairs
  }
}

/// What came of reading a receipt.
public enum ReceiptReadResult: Sendable {
  case verified(VerifiedReceipt)
  /// Readable, but nobody vouches for what it says.
  case refused(Receipt, ReceiptError)
  case unreadable(ReceiptError)

  /// What it says, proven or not.
  public var receipt: Receipt? {
    switch self {
    case .verified(let verified): verified.receipt
    case .refused(let receipt, _): receipt
    case .unreadable: nil
    }
  }

  /// Why it is not believed; nil when it is verified.
  public var refusal: ReceiptError? {
    switch self {
    case .verified: nil
    case .refused(_, let refusal), .unreadable(let refusal): refusal
    }
  }

  /// Why it is of no use: not believed, or without any id by which Apple could be asked.
  public var unusable: ReceiptError? {
    switch self {
    case .verified(let verified): ReceiptReader.noPurchases(in: verified.receipt)
    case .refused(_, let refusal), .unreadable(let refusal): refusal
    }
  }
}

/// Reads receipts of every kind and proves them.
///
/// Call it from any thread; it blocks for the length of a signature, never on a network. Nothing is kept of a receipt
/// but its signer's certificates.
public final class ReceiptReader: Sendable {
  /// The bounds of what is read and kept.
  public struct Limits: Sendable {
    /// The longest text that is looked at; a receipt of 1,000 purchases has half a megabyte.
    public var bytes: Int
    /// Verified signers kept.
    public var cachedSigners: Int

    public init(bytes: Int = 8 << 20, cachedSigners: Int = 64) {
      self.bytes = bytes
      self.cachedSigners = cachedSigners
    }
  }

  private let signers: SignerVerifier
  private let limits: Limits
  private let derLimits: DERLimits

  public convenience init(trust: ReceiptTrust = .apple, limits: Limits = Limits()) {
    self.init(trust: trust, limits: limits, derLimits: .standard)
  }

  package init(trust: ReceiptTrust, limits: Limits = Limits(), derLimits: DERLimits) {
    signers = SignerVerifier(trust: trust, cachedChains: limits.cachedSigners)
    self.limits = limits
    self.derLimits = derLimits
  }

  /// What `bytes` say and whether it is proven: base64 however it was damaged, or the receipt's own bytes.
  ///
  /// - Parameter bundleID: refuses what is of another app.
  public func read(_ bytes: [UInt8], expecting bundleID: String? = nil) -> ReceiptReadResult {
    do throws(ReceiptError) {
      let opened = try open(bytes)
      do throws(ReceiptError) {
        let proof = try prove(opened)
        try check(opened.receipt, of: bundleID)
        return .verified(VerifiedReceipt(receipt: opened.receipt, proof: proof, repairs: opened.repairs))
      } catch { return .refused(opened.receipt, error) }
    } catch { return .unreadable(error) }
  }

  /// What `bytes` say, without asking who signed it: three times as fast, and as good as a stranger's word.
  ///
  /// Xcode's receipts and those without any usable id are refused all the same.
  public func readUnverified(
    _ bytes: [UInt8], expecting bundleID: String? = nil
  ) -> Result<Receipt, ReceiptError> {
    do throws(ReceiptError) {
      let receipt = try open(bytes).receipt
      if receipt.isOfXcode { throw Self.ofXcode }
      try check(receipt, of: bundleID)
      if let refusal = Self.noPurchases(in: receipt) { throw refusal }
      return .success(receipt)
    } catch { return .failure(error) }
  }

  fileprivate static func noPurchases(in receipt: Receipt) -> ReceiptError? {
    receipt.originalTransactionIDs.isEmpty
      ? ReceiptError(.noPurchases, "no purchase with an id by which Apple could be asked") : nil
  }

  private static let ofXcode = ReceiptError(.xcodeReceipt, "of Xcode's StoreKit testing; it is unverified")

  private func check(_ receipt: Receipt, of bundleID: String?) throws(ReceiptError) {
    guard let bundleID, receipt.bundleID != bundleID else { return }
    throw ReceiptError(.wrongBundle, "of another app than the one that was asked for")
  }
}

// MARK: - Reading

extension ReceiptReader {
  /// A receipt that was read and what it takes to prove it.
  private struct Opened {
    enum Evidence {
      case message(SignedMessage, [UInt8], DERReader)
      case transaction(info: [UInt8], signature: [UInt8])
    }

    let receipt: Receipt
    let evidence: Evidence
    let repairs: Set<ReceiptRepair>
  }

  private func open(_ bytes: [UInt8]) throws(ReceiptError) -> Opened {
    let text = try ReceiptText(bytes, limit: limits.bytes)
    // It is kept in base64, and read again so.
    guard (text.bytes.count + 2) / 3 * 4 <= limits.bytes else {
      throw ReceiptError(.tooLarge, "\(text.bytes.count) bytes; in base64 at most \(limits.bytes) are accepted")
    }
    switch text.form {
    case .message: return try openMessage(text)
    case .propertyList: return try openTransaction(text)
    }
  }

  private func openMessage(_ text: ReceiptText) throws(ReceiptError) -> Opened {
    var reader = DERReader(limits: derLimits)
    let message: SignedMessage
    do throws(SignedMessage.Failure) { message = try SignedMessage(text.bytes.span, &reader) } catch {
      switch error {
      case .der(let error): throw ReceiptError(reading: "the signed message", error)
      case .notASignedMessage: throw ReceiptError(.notAReceipt, "no PKCS#7 signed message")
      }
    }
    do throws(DERError) {
      let receipt: AppReceipt =
        switch message.content {
        case .inPlace(let range): try AppReceipt(content: text.bytes.span.extracting(range), &reader)
        case .gathered(let content): try AppReceipt(content: content.span, &reader)
        }
      return Opened(
        receipt: .app(receipt), evidence: .message(message, text.bytes, reader), repairs: text.repairs)
    } catch {
      throw error == .truncated
        ? ReceiptError(.notAReceipt, "the signed content is not whole")
        : ReceiptError(reading: "the signed content", error)
    }
  }

  private func openTransaction(_ text: ReceiptText) throws(ReceiptError) -> Opened {
    let outer = try Self.propertyList(text.bytes, called: "the receipt")
    guard let encoded = outer.bytes("purchase-info") else {
      throw ReceiptError(.notAReceipt, "a property list without purchase-info")
    }
    guard let info = Self.base64(encoded) else {
      throw ReceiptError(.notAReceipt, "purchase-info is not base64")
    }
    let signature = outer.bytes("signature").flatMap(Self.base64) ?? []
    let signed = try Self.propertyList(info, called: "purchase-info")
    return Opened(
      receipt: .transaction(TransactionReceipt(signed: signed, unsigned: outer)),
      evidence: .transaction(info: info, signature: signature), repairs: text.repairs)
  }

  private static func base64(_ text: [UInt8]) -> [UInt8]? {
    Base64.standard.decode(text) ?? LenientBase64(text[...])?.bytes
  }

  private static func propertyList(_ bytes: [UInt8], called name: String) throws(ReceiptError) -> PropertyList {
    do throws(PropertyList.Failure) { return try PropertyList(bytes) } catch {
      switch error {
      case .truncated: throw ReceiptError(.truncated, "\(name) ends before it should")
      case .malformed: throw ReceiptError(.notAReceipt, "\(name) is not a property list")
      case .repeatedKey: throw ReceiptError(.notAReceipt, "\(name) has a key twice")
      case .tooMany: throw ReceiptError(.tooMany, "\(name) has too many keys")
      }
    }
  }
}

// MARK: - Proof

extension ReceiptReader {
  private func prove(_ opened: Opened) throws(ReceiptError) -> SignatureProof {
    if opened.receipt.isOfXcode { throw Self.ofXcode }
    guard let date = opened.receipt.signedAt else {
      throw ReceiptError(.missingDate, "no date at which the signature could count")
    }
    let proof: SignatureProof
    do throws(SignatureError) {
      switch opened.evidence {
      case .message(let message, let bytes, var reader):
        let signer = try Self.signer(of: message)
        let span = bytes.span
        let chain = try signers.chain(
          certificates: span.extracting(message.certificates), signer: span.extracting(signer.identity)
        ) { () throws(SignatureError) in
          try CertificateSet.candidates(message.certificates, of: bytes.span, signer: signer, &reader)
        }
        switch message.content {
        case .inPlace(let range):
          proof = try Self.proof(of: span.extracting(range), signer, in: span, by: chain, validAt: date)
        case .gathered(let content):
          proof = try Self.proof(of: content.span, signer, in: span, by: chain, validAt: date)
        }
      case .transaction(let info, let bytes):
        guard let parts = TransactionSignature(bytes) else {
          throw SignatureError(.badSignature, "the signature is not built as Apple's are")
        }
        let certificate = bytes.span.extracting(parts.certificate)
        let chain =
          switch parts.version {
          case .two: try signers.version2Signer(certificate)
          case .three: try signers.version3Chain(signer: certificate)
          }
        let content = [parts.versionByte] + info
        proof = try chain.proof(
          of: content.span, signature: bytes.span.extracting(parts.signature), hashedWith: .sha1, validAt: date)
      }
    } catch { throw ReceiptError(error) }
    return try allowed(proof, for: opened.receipt)
  }

  private static func proof(
    of content: Span<UInt8>, _ signer: SignedMessage.SignerInfo, in message: Span<UInt8>, by chain: SignerChain,
    validAt date: Timestamp
  ) throws(SignatureError) -> SignatureProof {
    let signature = message.extracting(signer.signature)
    guard let attributes = signer.attributes else {
      return try chain.proof(of: content, signature: signature, hashedWith: signer.hash, validAt: date)
    }
    guard signer.hash.digest(of: content) == Array(copying: message.extracting(attributes.messageDigest)) else {
      throw SignatureError(.badSignature, "the signed digest is of other content")
    }
    let signed = attributes.signed(in: message)
    return try chain.proof(of: signed.span, signature: signature, hashedWith: signer.hash, validAt: date)
  }

  private static func signer(of message: SignedMessage) throws(SignatureError) -> SignedMessage.SignerInfo {
    switch message.signer {
    case .one(let info): return info
    case .none: throw SignatureError(.notSigned, "it is not signed")
    case .unsupported(let what): throw SignatureError(.unsupportedSignature, what)
    }
  }

  /// Roots of the operator's own vouch for nothing but the environments for which they were added.
  private func allowed(_ proof: SignatureProof, for receipt: Receipt) throws(ReceiptError) -> SignatureProof {
    let environment = receipt.environment.flatMap { AppStoreEnvironment(rawValue: $0.rawValue) }
    guard signers.trust.allows(proof.root, in: environment) else {
      throw ReceiptError(.unknownRoot, "its root is not trusted for its environment")
    }
    return proof
  }
}
