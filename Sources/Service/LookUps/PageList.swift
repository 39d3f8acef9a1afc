import JSON

/// One list of a response, reduced to the page after a position.
///
/// Items may be added in any order and number; it stores only a page and the items needed to find it.
struct PageList<Item> {
  let limit: Int
  /// The end of the previous page; `nil` at the beginning.
  let start: ItemPosition?
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

  mutating func page() -> (items: [Item], end: ItemPosition?, hasMore: Bool) {
    sort()
    let page = kept.prefix(limit)
    return (page.map(\.item), page.last?.position ?? start, kept.count > limit)
  }

  /// Returns the page as JSON, with fewer items if claims would take too many bytes.
  ///
  /// Reduces the remaining bytes by those of the claims. One item is returned regardless of its size, so that the next
  /// page differs.
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
    // Items from one piece are already in order.
    if !zip(kept, kept.dropFirst()).allSatisfy({ $0.position <= $1.position }) {
      kept.sort { $0.position < $1.position }
    }
  }
}
