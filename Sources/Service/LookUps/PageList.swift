import JSON

/// One list of an answer, of which a page is given: what comes next after where the page before ended.
///
/// Items may be added in any order, and as many as there are: no more are kept than a page and what is needed to find it.
struct PageList<Item> {
  /// Items of a page at most.
  let limit: Int
  /// Where the page before ended; nil at the beginning.
  let start: ItemPosition?
  /// All items that there are, on this page or not.
  private(set) var count = 0
  private var kept: [(position: ItemPosition, item: Item, isClaimed: Bool)] = []

  init(limit: Int, after start: ItemPosition?) {
    self.limit = limit
    self.start = start
  }

  mutating func add(_ item: Item, at position: ItemPosition, isClaimed: Bool = false) {
    count += 1
    if let start, position <= start { return }
    kept.append((position, item, isClaimed))
    if kept.count >= 2 * limit + 64 {
      sort()
      kept.removeSubrange((limit + 1)...)
    }
  }

  /// The items of the page, where it ends, and whether more follow.
  mutating func page() -> (items: [Item], end: ItemPosition?, hasMore: Bool) {
    sort()
    let page = kept.prefix(limit)
    return (page.map(\.item), page.last?.position ?? start, kept.count > limit)
  }

  /// The same with the items as JSON, and with fewer of them where what is only claimed would take too many bytes.
  ///
  /// - Parameter room: bytes that claims may still take on the page, from which theirs are taken. One item is given
  ///   whatever it takes, so that the next page is another one.
  mutating func page(
    claimsWithin room: inout Int, _ describe: (Item) -> JSONObject
  ) -> (items: [JSONValue], end: ItemPosition?, hasMore: Bool) {
    sort()
    var page: [JSONValue] = []
    for entry in kept.prefix(limit) {
      let item = describe(entry.item)
      if entry.isClaimed {
        let size = item.encoded().count
        guard size <= room || page.isEmpty else { break }
        room -= size
      }
      page.append(.object(item))
    }
    let end = page.isEmpty ? start : kept[page.count - 1].position
    return (page, end, kept.count > page.count)
  }

  private mutating func sort() {
    // As they come from one piece they are in order already.
    if !zip(kept, kept.dropFirst()).allSatisfy({ $0.position <= $1.position }) {
      kept.sort { $0.position < $1.position }
    }
  }
}
