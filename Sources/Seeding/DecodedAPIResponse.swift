package import Purchases

/// An answer of Apple's that was read, and of which nothing is written yet.
package struct DecodedAPIResponse: Sendable {
  package enum Content: Sendable {
    /// What it teaches.
    case findings(Findings)
    /// It could not be read, for the reason of this code, and is to be set aside.
    case refused(String)
  }

  package let content: Content
  /// Records it; returns after commit, false when the ledger did not take it.
  package let record: @Sendable () async -> Bool

  package init(_ content: Content, record: @escaping @Sendable () async -> Bool) {
    self.content = content
    self.record = record
  }
}
