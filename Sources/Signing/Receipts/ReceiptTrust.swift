/// The trusted signers of receipts.
public struct ReceiptTrust: Sendable {
  /// The roots' fingerprints; the receipt contains the root itself.
  let rootFingerprints: Set<Digest>
  /// The added roots, which a receipt may omit.
  let roots: [Certificate]
  /// The operator's own roots, and the environments for which each is trusted.
  private let addedRoots: [Digest: Set<AppStoreEnvironment>]
  /// The authorities that issue the signers of iOS 6 receipts of version 3, which carry only their signer.
  let issuers: [Certificate]
  /// The pinned signers of iOS 6 receipts of version 2, which lack their issuer.
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

  /// Apple Root CA, and the signers of iOS 6 receipts.
  public static let apple = Self(
    rootFingerprints: [AppleReceiptPins.root], roots: [], addedRoots: [:], issuers: AppleReceiptPins.issuers,
    pinnedSigners: AppleReceiptPins.version2Signers)

  /// Trusts these roots and none of Apple's: for tests and the simulator.
  public init(exactly roots: [RootCertificate]) {
    let certificates = roots.map(\.certificate)
    self.init(
      rootFingerprints: Set(certificates.map(\.fingerprint)), roots: certificates, addedRoots: [:], issuers: [],
      pinnedSigners: [])
  }

  /// Returns the trust with `roots` added for receipts of one test environment only.
  public func adding(_ roots: [RootCertificate], for environment: TrustedRoots.TestEnvironment) -> Self {
    adding(roots, in: environment.environment)
  }

  /// Returns the trust with `roots` added *for Production*, too: a holder of their keys can make receipts that count as
  /// paid.
  public func addingAlsoForProduction(_ roots: [RootCertificate]) -> Self { adding(roots, in: .production) }

  private func adding(_ roots: [RootCertificate], in environment: AppStoreEnvironment) -> Self {
    let certificates = roots.map(\.certificate)
    var added = addedRoots
    // Apple's own stay trusted everywhere.
    for root in certificates.map(\.fingerprint) where !rootFingerprints.contains(root) || added[root] != nil {
      added[root, default: []].insert(environment)
    }
    return Self(
      rootFingerprints: rootFingerprints.union(certificates.map(\.fingerprint)), roots: self.roots + certificates,
      addedRoots: added, issuers: issuers, pinnedSigners: pinnedSigners)
  }

  /// Returns the trust with these signers of iOS 6 receipts of version 2: a holder of their keys can make such
  /// receipts.
  public func adding(version2Signers fingerprints: [Digest]) -> Self {
    Self(
      rootFingerprints: rootFingerprints, roots: roots, addedRoots: addedRoots, issuers: issuers,
      pinnedSigners: pinnedSigners.union(fingerprints))
  }

  /// Whether `root` is trusted for a receipt of this environment.
  ///
  /// A receipt without an environment could be of Production, so it needs a root that is trusted for Production.
  package func allows(_ root: Digest?, in environment: AppStoreEnvironment?) -> Bool {
    guard let root, let environments = addedRoots[root] else { return true }
    return environments.contains(environment ?? .production)
  }
}
