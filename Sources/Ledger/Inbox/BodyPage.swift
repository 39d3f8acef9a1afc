package import Database

/// The number of bodies in one query: a body may have 8 MiB, and the size of a result is limited.
package enum BodyPage {
  private static let bytes = 16 << 20

  /// Returns the number of first items whose sizes fit together, at least one.
  package static func count(of sizes: some Sequence<Int>) -> Int {
    var (count, sum) = (0, 0)
    for size in sizes {
      sum += size
      if sum > bytes, count > 0 { break }
      count += 1
    }
    return count
  }

  /// Returns the items in their order, in parts whose sizes fit together.
  package static func parts<Item>(of items: [Item], size: (Item) -> Int) -> [[Item]] {
    var (parts, rest): ([[Item]], ArraySlice<Item>) = ([], items[...])
    while !rest.isEmpty {
      let part = rest.prefix(count(of: rest.lazy.map(size)))
      parts.append(Array(part))
      rest = rest.dropFirst(part.count)
    }
    return parts
  }

  /// Reads items together, or one by one if a body is damaged or does not open: that body must not hide the others.
  ///
  /// - Returns: the messages, and the unreadable items, each with the reason.
  package static func read<Item, Message>(
    _ items: [Item], _ read: ([Item]) throws(DatabaseError) -> [Message]
  ) throws(DatabaseError) -> (messages: [Message], unreadable: [(Item, String)]) {
    do throws(DatabaseError) { return (try read(items), []) } catch {
      guard error.code == .column else { throw error }
    }
    var (messages, unreadable): ([Message], [(Item, String)]) = ([], [])
    for item in items {
      do throws(DatabaseError) { messages += try read([item]) } catch {
        guard error.code == .column else { throw error }
        unreadable.append((item, error.detail))
      }
    }
    return (messages, unreadable)
  }
}
