/// The extensions by which Apple marks certificates that sign for the App Store; only their presence counts.
///
/// Apple's libraries, ChainVerifier.
package enum CertificateMarker: String, Sendable, CaseIterable {
  /// "Mac App Store and iTunes Store receipt signing", on the leaf.
  case leaf = "1.2.840.113635.100.6.11.1"
  /// "Worldwide Developer Relations", on the intermediate.
  case intermediate = "1.2.840.113635.100.6.2.1"
}
