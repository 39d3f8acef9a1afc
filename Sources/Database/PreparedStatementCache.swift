/// A session's prepared statements by text, limited in number: the least recently used is closed first.
final class PreparedStatementCache {
  private struct Entry {
    var statement: PreparedStatement
    var lastUse: UInt64
  }

  private let capacity: Int
  private var entries: [String: Entry] = [:]
  private var uses: UInt64 = 0

  init(capacity: Int) { self.capacity = max(1, capacity) }

  func statement(_ text: String) -> PreparedStatement? {
    guard let place = entries.index(forKey: text) else { return nil }
    uses += 1
    entries.values[place].lastUse = uses
    return entries.values[place].statement
  }

  func insert(_ statement: PreparedStatement, for text: String) {
    if entries.count >= capacity, let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse }) {
      entries[oldest.key] = nil
    }
    uses += 1
    entries[text] = Entry(statement: statement, lastUse: uses)
  }

  func remove(_ text: String) { entries[text] = nil }

  func removeAll() { entries.removeAll() }
}
