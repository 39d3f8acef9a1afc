/// One list of an answer, of which a page is given: what comes next after where the page before ended.
///
/// Items may be added in any order, and as many as there are: no more are kept than a page and what is needed to find it.
struct PageList<Item> {
  /// Items of a page.
  let limit: Int
  /// Of them those that nobody vouches for; their positions come after all others.
  let mostClaims: Int
  /// Where the page before ended; nil at the beginning.
  let start: ListPosition?
  /// All items that there are, on this page or not.
  private(set) var count = 0
  private var kept: [(position: ListPosition, item: Item, isClaimed: Bool)] = []

  init(limit: Int, mostClaims: Int = .max, after start: ListPosition?) {
    self.limit = limit
    self.mostClaims = mostClaims
    self.start = start
  }

  mutating func add(_ item: Item, at position: ListPosition, isClaimed: Bool = false) {
    count += 1
    if let start, position <= start { return }
    kept.append((position, item, isClaimed))
    if kept.count >= 2 * limit + 64 {
      sort()
      kept.removeSubrange((limit + 1)...)
    }
  }

  /// The items of the page, where it ends, and whether more follow.
  mutating func page() -> (items: [Item], end: ListPosition?, hasMore: Bool) {
    sort()
    var claims = 0
    let page = kept.prefix(limit).prefix {
      if $0.isClaimed { claims += 1 }
      return claims <= mostClaims
    }
    return (page.map(\.item), page.last?.position ?? start, kept.count > page.count)
  }

  private mutating func sort() {
    // As they come from one piece they are in order already.
    if !zip(kept, kept.dropFirst()).allSatisfy({ $0.position <= $1.position }) {
      kept.sort { $0.position < $1.position }
    }
  }
}
