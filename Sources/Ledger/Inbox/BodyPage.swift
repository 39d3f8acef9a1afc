package import Database

/// How many bodies are read at once: a body may have 8 MiB, and the result of a statement is bounded.
package enum BodyPage {
  private static let bytes = 16 << 20

  /// Returns how many of the first have room together, by their sizes; one has, whatever its size.
  package static func count(of sizes: some Sequence<Int>) -> Int {
    var (count, sum) = (0, 0)
    for size in sizes {
      sum += size
      if sum > bytes, count > 0 { break }
      count += 1
    }
    return count
  }

  /// Returns the items in their order, as many at a time as have room together.
  package static func parts<Item>(of items: [Item], size: (Item) -> Int) -> [[Item]] {
    var (parts, rest): ([[Item]], ArraySlice<Item>) = ([], items[...])
    while !rest.isEmpty {
      let part = rest.prefix(count(of: rest.lazy.map(size)))
      parts.append(Array(part))
      rest = rest.dropFirst(part.count)
    }
    return parts
  }

  /// Reads items together, or one by one if a body does not open or is damaged: that body must not hide the others.
  ///
  /// - Returns: the messages, and the items that cannot be read, each with the reason.
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
