/// Where each of some names stands that are known beforehand: a dictionary that looks at little of a key.
///
/// A key's length and three of its bytes say where to look. To hash all of it, so that strangers could not choose keys
/// that meet, took longer than what was done with the member; a stranger's key is looked for here and never added.
public struct KnownKeys: Sendable {
  private let names: [String]
  /// The number of the name that falls there, or in the next place that was free; nil ends the search.
  private var slots: [Int?]

  /// - Parameter names: ASCII, each once.
  public init(_ names: [String]) {
    self.names = names
    var size = 16
    while size < 4 * names.count { size *= 2 }
    slots = Array(repeating: nil, count: size)
    for (place, name) in names.enumerated() {
      var slot = slot(of: name)
      while slots[slot] != nil { slot = next(slot) }
      slots[slot] = place
    }
  }

  /// The number of the name that `key` is, from 0 in the order they were given.
  public func place(of key: String) -> Int? {
    var slot = slot(of: key)
    while let place = slots[slot] {
      if names[place].hasBytes(of: key) { return place }
      slot = next(slot)
    }
    return nil
  }

  private func slot(of key: String) -> Int {
    let bytes = key.utf8Span.span
    let count = bytes.count
    guard count > 0 else { return 0 }
    let mark =
      UInt32(truncatingIfNeeded: count) << 24 | UInt32(bytes[0]) << 16 | UInt32(bytes[count / 2]) << 8
      | UInt32(bytes[count - 1])
    return Int((mark &* 0x9E37_79B1) >> 16) & (slots.count - 1)
  }

  private func next(_ slot: Int) -> Int { (slot + 1) & (slots.count - 1) }
}
