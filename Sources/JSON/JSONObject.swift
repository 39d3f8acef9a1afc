/// A JSON object: its members in the order in which they were written, each key once.
public struct JSONObject: Hashable, Sendable {
  public struct Member: Hashable, Sendable {
    public let key: String
    public var value: JSONValue

    public init(key: String, value: JSONValue) {
      self.key = key
      self.value = value
    }
  }

  public private(set) var members: [Member]

  public init() { members = [] }

  /// The pairs in their order; of two with one key the later one counts, in the place of the first.
  public init(_ pairs: some Sequence<(String, JSONValue)>) {
    self.init()
    for (key, value) in pairs { self[key] = value }
  }

  /// The members as they stand, without the search for equal keys: the caller promises that no key stands twice.
  public init(uniqueMembers members: [Member]) { self.members = members }

  /// The value of `key`.
  ///
  /// Setting nil removes the member; a new key goes to the end. A linear search: Apple's objects have a few dozen members at the most.
  public subscript(key: String) -> JSONValue? {
    get { place(of: key).map { members[$0].value } }
    set {
      switch (place(of: key), newValue) {
      case (let index?, let value?): members[index].value = value
      case (let index?, nil): members.remove(at: index)
      case (nil, let value?): members.append(Member(key: key, value: value))
      case (nil, nil): break
      }
    }
  }

  /// Where the member is, for whoever reads it and whoever sets it.
  ///
  /// A loop: a closure would be handed a copy of each member, its value retained and released. Most keys differ in length,
  /// which costs no call.
  private func place(of key: String) -> Int? {
    let count = key.utf8.count
    for place in members.indices where members[place].key.utf8.count == count && members[place].key.hasBytes(of: key) {
      return place
    }
    return nil
  }

  public var isEmpty: Bool { members.isEmpty }
  public var count: Int { members.count }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
  public init(dictionaryLiteral elements: (String, JSONValue)...) { self.init(elements) }
}

extension JSONObject: Sequence {
  public func makeIterator() -> IndexingIterator<[Member]> { members.makeIterator() }
}
