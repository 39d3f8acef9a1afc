import Purchases
import Time

/// What is shown of the long lists of an explanation: the newest items of each, in the order of the whole list.
struct ExplanationLimit {
  /// Items of each list; nil: all.
  let count: Int?

  /// Unless somebody asks for another number: as much as a person reads.
  static let forPeople = 200

  /// The last items of a list that is ordered by date.
  func newest<Item>(of items: [Item]) -> ArraySlice<Item> { items.suffix(count ?? items.count) }

  /// The items of the latest dates of a list that is ordered otherwise.
  func newest<Item, Date: Comparable>(of items: [Item], by date: (Item) -> Date) -> [Item] {
    guard let count, items.count > count else { return items }
    let places = items.indices.sorted { (date(items[$0]), $0) < (date(items[$1]), $1) }.suffix(count)
    return places.sorted().map { items[$0] }
  }

  /// The first members of a customer, of whom none is newer than another.
  func first<Item>(of items: [Item]) -> ArraySlice<Item> { items.prefix(count ?? items.count) }
}
