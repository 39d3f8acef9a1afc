package struct CohortMember: Hashable, Sendable {
  package enum Kind: String, Sendable, CaseIterable {
    case customer, user, token
  }

  package let kind: Kind
  package let name: String

  /// Reads `customer:2000000012345678` or only the originalTransactionId, `user:ID`, or `token:UUID`.
  ///
  /// Returns `nil` for other text.
  package init?(_ text: String) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    let (word, name) = parts.count == 2 ? (parts[0], parts[1]) : (Kind.customer.rawValue, text)
    guard let kind = Kind(rawValue: word), Self.isName(name, of: kind) else { return nil }
    (self.kind, self.name) = (kind, name)
  }

  /// `customer:2000000012345678`.
  package var text: String { "\(kind.rawValue):\(name)" }

  private static func isName(_ name: String, of kind: Kind) -> Bool {
    switch kind {
    case .customer: (1...64).contains(name.utf8.count) && name.utf8.allSatisfy { (0x30...0x39).contains($0) }
    case .user:
      (1...255).contains(name.utf8.count) && name.utf8.first != 0x20 && name.utf8.last != 0x20
        && name.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    case .token: isUUID(name)
    }
  }

  /// Whether the text has the form of Apple's appAccountToken.
  private static func isUUID(_ text: String) -> Bool {
    let groups = text.split(separator: "-", omittingEmptySubsequences: false)
    return groups.map(\.utf8.count) == [8, 4, 4, 4, 12]
      && groups.allSatisfy { $0.allSatisfy { $0.isASCII && $0.isHexDigit } }
  }
}
