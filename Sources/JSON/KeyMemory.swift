/// What the keys of one object mean, remembered for the next: rows of a list have mostly the same keys in the same order.
///
/// A comparison in place of a search; what it returns is what the search would.
public struct KeyMemory<Meaning> {
  @usableFromInline var known: [(key: String, meaning: Meaning?)] = []

  public init() {}

  /// What `key`, the member number `place` of its object, means: as found for the object before, else by `search`.
  @inlinable
  public mutating func meaning(of key: String, at place: Int, search: (String) -> Meaning?) -> Meaning? {
    if place < known.count, known[place].key.hasBytes(of: key) { return known[place].meaning }
    let meaning = search(key)
    if place < known.count {
      known[place] = (key, meaning)
    } else if place == known.count {
      known.append((key, meaning))
    }
    return meaning
  }
}
