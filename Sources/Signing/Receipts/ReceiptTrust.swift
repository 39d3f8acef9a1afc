/// Whom a receipt's signature may come from.
public struct ReceiptTrust: Sendable {
  /// The roots' fingerprints; a root itself travels in the receipt.
  let rootFingerprints: Set<Digest>
  /// Roots that were handed in, so that a receipt may leave them out.
  let roots: [Certificate]
  /// Roots of the operator's own, and the environments for whose receipts each vouches.
  private let addedRoots: [Digest: Set<AppStoreEnvironment>]
  /// Authorities that issue the signers of iOS 6 receipts of version 3, which carry their signer alone.
  let issuers: [Certificate]
  /// Signers of iOS 6 receipts of version 2: the certificate itself is pinned, since its issuer is not in them.
  package let pinnedSigners: Set<Digest>

  private init(
    rootFingerprints: Set<Digest>, roots: [Certificate], addedRoots: [Digest: Set<AppStoreEnvironment>],
    issuers: [Certificate], pinnedSigners: Set<Digest>
  ) {
    self.rootFingerprints = rootFingerprints
    self.roots = roots
    self.addedRoots = addedRoots
    self.issuers = issuers
    self.pinnedSigners = pinnedSigners
  }

  /// Apple Root CA, and what signed iOS 6 receipts.
  public static let apple = Self(
    rootFingerprints: [AppleReceiptPins.root], roots: [], addedRoots: [:], issuers: AppleReceiptPins.issuers,
    pinnedSigners: AppleReceiptPins.version2Signers)

  /// These roots instead of Apple's, and nothing of Apple's: for tests and the simulator.
  public init(exactly roots: [RootCertificate]) {
    let certificates = roots.map(\.certificate)
    self.init(
      rootFingerprints: Set(certificates.map(\.fingerprint)), roots: certificates, addedRoots: [:], issuers: [],
      pinnedSigners: [])
  }

  /// The same, with `roots` trusted for receipts of a test environment as well, and for no others.
  public func adding(_ roots: [RootCertificate], for environment: TrustedRoots.TestEnvironment) -> Self {
    adding(roots, in: environment.environment)
  }

  /// The same, with `roots` trusted *for Production*, too: whoever holds their keys can make receipts that count as paid.
  public func addingAlsoForProduction(_ roots: [RootCertificate]) -> Self { adding(roots, in: .production) }

  private func adding(_ roots: [RootCertificate], in environment: AppStoreEnvironment) -> Self {
    let certificates = roots.map(\.certificate)
    var added = addedRoots
    // Apple's own stay what they are: trusted everywhere.
    for root in certificates.map(\.fingerprint) where !rootFingerprints.contains(root) || added[root] != nil {
      added[root, default: []].insert(environment)
    }
    return Self(
      rootFingerprints: rootFingerprints.union(certificates.map(\.fingerprint)), roots: self.roots + certificates,
      addedRoots: added, issuers: issuers, pinnedSigners: pinnedSigners)
  }

  /// The same, with these signers of iOS 6 receipts of version 2: whoever holds their keys can make such receipts.
  public func adding(version2Signers fingerprints: [Digest]) -> Self {
    Self(
      rootFingerprints: rootFingerprints, roots: roots, addedRoots: addedRoots, issuers: issuers,
      pinnedSigners: pinnedSigners.union(fingerprints))
  }

  /// Whether `root` may vouch for a receipt of this environment.
  ///
  /// One that does not name its environment could be of Production: what may not vouch for Production may not for it.
  package func allows(_ root: Digest?, in environment: AppStoreEnvironment?) -> Bool {
    guard let root, let environments = addedRoots[root] else { return true }
    return environments.contains(environment ?? .production)
  }
}
