public import Time

/// The proof that a trusted signer signed a receipt's content; only the check in this file creates one.
public struct SignatureProof: Hashable, Sendable {
  /// The root of the signer's chain; `nil` for a pinned signer.
  public let root: Digest?
  public let signer: Digest
  public let signerSerialNumber: String
  /// The date at which every certificate was valid.
  public let validAt: Timestamp

  fileprivate init(root: Digest?, signer: Digest, signerSerialNumber: String, validAt: Timestamp) {
    self.root = root
    self.signer = signer
    self.signerSerialNumber = signerSerialNumber
    self.validAt = validAt
  }
}

/// The reason why a receipt's signature proves nothing.
package struct SignatureError: Error, Equatable {
  package enum Code: Sendable, CaseIterable {
    case notSigned, unsupportedSignature, malformedCertificate, unknownSigner, unknownRoot, missingMarker, badSignature,
      notValidAtDate
  }

  package let code: Code
  package let detail: String

  package init(_ code: Code, _ detail: String) {
    self.code = code
    self.detail = detail
  }

  package static func == (a: Self, b: Self) -> Bool { a.code == b.code }
}

/// A signer with a chain to a trusted root, and its key for verification.
///
/// Time is not checked: each receipt's date is compared with the period in which all certificates are valid.
package final class SignerChain: Sendable {
  private let key: RSAPublicKey
  private let root: Digest?
  private let signer: Digest
  private let serialNumber: String
  /// The seconds in which every certificate is valid; `nil` if empty.
  private let validity: ClosedRange<Int64>?

  /// - Parameter certificates: the signer first, the root last; only the signer when it is pinned.
  init(_ certificates: [Certificate], signer: Certificate, isPinned: Bool) throws(SignatureError) {
    do throws(CertificateError) { key = try RSAPublicKey(of: signer) } catch {
      throw SignatureError(.unknownSigner, error.detail)
    }
    root = isPinned ? nil : certificates.last?.fingerprint
    self.signer = signer.fingerprint
    serialNumber = signer.serialNumber
    let from = certificates.map(\.validity.lowerBound).max()
    let until = certificates.map(\.validity.upperBound).min()
    validity = if let from, let until, from <= until { from...until } else { nil }
  }

  /// Returns the proof that the signer's key signed `content`, if the certificates were valid at `date`.
  package func proof(
    of content: Span<UInt8>, signature: Span<UInt8>, hashedWith hash: SignatureHash, validAt date: Timestamp
  ) throws(SignatureError) -> SignatureProof {
    guard key.verifies(signature, of: content, hashedWith: hash) else {
      throw SignatureError(.badSignature, "not signed by the signer's key, or changed since")
    }
    guard let validity else {
      throw SignatureError(.notValidAtDate, "the certificates are never valid together")
    }
    guard validity.contains(date.wholeSeconds) else {
      let from = Timestamp(validity.lowerBound * 1_000).iso8601
      let until = Timestamp(validity.upperBound * 1_000).iso8601
      throw SignatureError(.notValidAtDate, "of \(date.iso8601), certificates valid \(from) to \(until)")
    }
    return SignatureProof(root: root, signer: signer, signerSerialNumber: serialNumber, validAt: date)
  }
}
