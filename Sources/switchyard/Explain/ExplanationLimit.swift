import Purchases
import Time

/// The limit of an explanation's long lists: the newest items of each, in the order of the whole list.
struct ExplanationLimit {
  /// Items of each list; `nil` means all.
  let count: Int?

  /// The default, as many as a person reads.
  static let forPeople = 200

  /// Returns the last items of a list ordered by date.
  func newest<Item>(of items: [Item]) -> ArraySlice<Item> { items.suffix(count ?? items.count) }

  /// Returns the items of the latest dates of a list with another order.
  func newest<Item, Date: Comparable>(of items: [Item], by date: (Item) -> Date) -> [Item] {
    guard let count, items.count > count else { return items }
    let places = items.indices.sorted { (date(items[$0]), $0) < (date(items[$1]), $1) }.suffix(count)
    return places.sorted().map { items[$0] }
  }

  /// Returns the first members of a customer, which have no dates.
  func first<Item>(of items: [Item]) -> ArraySlice<Item> { items.prefix(count ?? items.count) }
}
