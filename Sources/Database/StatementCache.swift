/// The prepared statements of a session by their text, bounded: the least recently used is closed first.
struct StatementCache {
  private struct Entry {
    var statement: PreparedStatement
    var lastUse: UInt64
  }

  private let capacity: Int
  private var entries: [String: Entry] = [:]
  private var uses: UInt64 = 0

  init(capacity: Int) { self.capacity = max(1, capacity) }

  var count: Int { entries.count }

  mutating func statement(_ text: String) -> PreparedStatement? {
    uses += 1
    entries[text]?.lastUse = uses
    return entries[text]?.statement
  }

  mutating func insert(_ statement: PreparedStatement, for text: String) {
    if entries.count >= capacity, let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse }) {
      entries[oldest.key] = nil
    }
    uses += 1
    entries[text] = Entry(statement: statement, lastUse: uses)
  }

  mutating func remove(_ text: String) { entries[text] = nil }

  mutating func removeAll() { entries = [:] }
}
