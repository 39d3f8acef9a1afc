/// Whom a receipt's signature may come from.
public struct ReceiptTrust: Sendable {
  /// The roots' fingerprints; a root itself travels in the receipt.
  let rootFingerprints: Set<Digest>
  /// Roots that were handed in, so that a receipt may leave them out.
  let roots: [Certificate]
  /// Roots of the operator's own, which vouch for test receipts alone.
  private let testRoots: Set<Digest>
  /// Authorities that issue the signers of iOS 6 receipts of version 3, which carry their signer alone.
  let issuers: [Certificate]
  /// Signers of iOS 6 receipts of version 2: the certificate itself is pinned, since its issuer is not in them.
  package let pinnedSigners: Set<Digest>

  private init(
    rootFingerprints: Set<Digest>, roots: [Certificate], testRoots: Set<Digest>, issuers: [Certificate],
    pinnedSigners: Set<Digest>
  ) {
    self.rootFingerprints = rootFingerprints
    self.roots = roots
    self.testRoots = testRoots
    self.issuers = issuers
    self.pinnedSigners = pinnedSigners
  }

  /// Apple Root CA, and what signed iOS 6 receipts.
  public static let apple = Self(
    rootFingerprints: [AppleReceiptPins.root], roots: [], testRoots: [], issuers: AppleReceiptPins.issuers,
    pinnedSigners: AppleReceiptPins.version2Signers)

  /// These roots instead of Apple's, and nothing of Apple's: for tests and the simulator.
  public init(exactly roots: [RootCertificate]) {
    let certificates = roots.map(\.certificate)
    self.init(
      rootFingerprints: Set(certificates.map(\.fingerprint)), roots: certificates, testRoots: [], issuers: [],
      pinnedSigners: [])
  }

  /// The same, with `roots` trusted for every receipt that is of the sandbox.
  public func addingForSandbox(_ roots: [RootCertificate]) -> Self {
    let certificates = roots.map(\.certificate)
    let added = Set(certificates.map(\.fingerprint))
    return Self(
      rootFingerprints: rootFingerprints.union(added), roots: self.roots + certificates,
      testRoots: testRoots.union(added.subtracting(rootFingerprints)), issuers: issuers, pinnedSigners: pinnedSigners)
  }

  /// The same, with these signers of iOS 6 receipts of version 2: whoever holds their keys can make such receipts.
  public func adding(version2Signers fingerprints: [Digest]) -> Self {
    Self(
      rootFingerprints: rootFingerprints, roots: roots, testRoots: testRoots, issuers: issuers,
      pinnedSigners: pinnedSigners.union(fingerprints))
  }

  /// Whether `root` may vouch for data of this environment; of an unknown one nothing but the strictest will do.
  package func allows(_ root: Digest?, in environment: AppStoreEnvironment?) -> Bool {
    guard let root, testRoots.contains(root) else { return true }
    return environment == .sandbox
  }
}
