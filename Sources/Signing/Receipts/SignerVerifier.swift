/// Finds and caches a trusted chain for the signer of a receipt.
///
/// Safe to call from any thread; never blocks on a network.
package final class SignerVerifier: Sendable {
  /// The certificates of one receipt.
  package struct Candidates: Sendable {
    package var signer: [UInt8]
    package var others: [[UInt8]]

    package init(signer: [UInt8], others: [[UInt8]]) {
      self.signer = signer
      self.others = others
    }
  }

  package let trust: ReceiptTrust
  private let cache: SignerCache

  package init(trust: ReceiptTrust, cachedChains: Int = 64) {
    self.trust = trust
    cache = SignerCache(capacity: cachedChains)
  }

  package var cachedChains: Int { cache.count }

  /// Returns the chain of an app receipt's signer to a trusted root.
  ///
  /// The same `certificates` and `signer`, byte for byte, are cached; otherwise `candidates` parses them.
  package func chain(
    certificates: Span<UInt8>, signer: Span<UInt8>,
    candidates: () throws(SignatureError) -> Candidates
  ) throws(SignatureError) -> SignerChain {
    if let known = cache.chain(for: .app, certificates, signer) { return known }
    let candidates = try candidates()
    let leaf = try Self.certificate(candidates.signer)
    var others: [Certificate] = []
    for der in candidates.others { others.append(try Self.certificate(der)) }
    let anchors = trust.roots + others.filter { trust.rootFingerprints.contains($0.fingerprint) }
    let chain = try marked(leaf, others: others, anchors: anchors)
    cache.insert(chain, for: .app, certificates, signer)
    return chain
  }

  /// Returns the chain of the signer of an iOS 6 receipt of version 3, whose issuer must be known beforehand.
  package func version3Chain(signer: Span<UInt8>) throws(SignatureError) -> SignerChain {
    if let known = cache.chain(for: .version3, Span(), signer) { return known }
    let leaf = try Self.certificate(Array(copying: signer))
    let chain = try marked(leaf, others: [], anchors: trust.roots + trust.issuers)
    cache.insert(chain, for: .version3, Span(), signer)
    return chain
  }

  /// Returns the signer of an iOS 6 receipt of version 2, which must be pinned.
  package func version2Signer(_ signer: Span<UInt8>) throws(SignatureError) -> SignerChain {
    if let known = cache.chain(for: .version2, Span(), signer) { return known }
    let certificate = try Self.certificate(Array(copying: signer))
    guard trust.pinnedSigners.contains(certificate.fingerprint) else {
      throw SignatureError(.unknownSigner, "version 2, signer \(certificate.fingerprint.hex) is not pinned")
    }
    let chain = try SignerChain([certificate], signer: certificate, isPinned: true)
    cache.insert(chain, for: .version2, Span(), signer)
    return chain
  }

  /// Returns a chain from a signer that Apple marked for receipts, because every developer's certificate has the same
  /// root.
  private func marked(
    _ leaf: Certificate, others: [Certificate], anchors: [Certificate]
  ) throws(SignatureError) -> SignerChain {
    let path = try CertificatePath.find(from: leaf, others: others, anchors: anchors)
    guard leaf.carries(.leaf) else {
      throw SignatureError(.missingMarker, "the signer has no extension \(CertificateMarker.leaf.rawValue)")
    }
    return try SignerChain(path, signer: leaf, isPinned: false)
  }

  private static func certificate(_ der: [UInt8]) throws(SignatureError) -> Certificate {
    do throws(CertificateError) { return try Certificate(der: der) } catch {
      throw SignatureError(.malformedCertificate, error.description)
    }
  }
}

extension [UInt8] {
  init(copying span: Span<UInt8>) {
    self.init()
    reserveCapacity(span.count)
    for index in span.indices { append(span[index]) }
  }
}
