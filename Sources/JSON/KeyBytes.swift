extension String {
  /// Whether both are the same bytes of UTF-8.
  ///
  /// Names of members are: `==` takes two ways to write an `é` for one name, and a body that has both for one with a name
  /// twice. Equal texts of one length are the same bytes if either is ASCII, so nearly every name is compared once.
  @usableFromInline
  func hasBytes(of other: String) -> Bool {
    guard utf8.count == other.utf8.count, self == other else { return false }
    return utf8Span.isKnownASCII || other.utf8Span.isKnownASCII || utf8.elementsEqual(other.utf8)
  }
}

/// A name of a member, hashed and compared by its bytes.
struct KeyBytes: Hashable {
  let key: String

  static func == (a: Self, b: Self) -> Bool { a.key.hasBytes(of: b.key) }

  func hash(into hasher: inout Hasher) {
    for byte in key.utf8 { hasher.combine(byte) }
  }
}
