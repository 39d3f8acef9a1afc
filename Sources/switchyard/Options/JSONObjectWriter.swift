import JSON
import Runtime

/// Writes one JSON object on its own line, member by member, so that it is never whole in memory.
struct JSONObjectWriter {
  private static let piece = 64 << 10

  private let terminal: Terminal
  private var buffer: [UInt8] = [UInt8(ascii: "{")]
  private var isEmpty = true

  init(_ terminal: Terminal) { self.terminal = terminal }

  mutating func add(_ members: JSONObject) throws(Terminal.OutputError) {
    for member in members {
      key(member.key)
      member.value.append(to: &buffer)
      try flush(atLeast: Self.piece)
    }
  }

  /// Adds an array, making one element at a time.
  mutating func add<Items: Sequence>(
    _ name: String, _ items: Items, _ value: (Items.Element) -> JSONValue
  ) throws(Terminal.OutputError) {
    key(name)
    buffer.append(UInt8(ascii: "["))
    var isFirst = true
    for item in items {
      if !isFirst { buffer.append(UInt8(ascii: ",")) }
      isFirst = false
      value(item).append(to: &buffer)
      try flush(atLeast: Self.piece)
    }
    buffer.append(UInt8(ascii: "]"))
  }

  mutating func end() throws(Terminal.OutputError) {
    buffer += [UInt8(ascii: "}"), UInt8(ascii: "\n")]
    try flush(atLeast: 1)
  }

  private mutating func key(_ name: String) {
    if !isEmpty { buffer.append(UInt8(ascii: ",")) }
    isEmpty = false
    JSONValue.append(string: name, to: &buffer)
    buffer.append(UInt8(ascii: ":"))
  }

  private mutating func flush(atLeast bytes: Int) throws(Terminal.OutputError) {
    guard buffer.count >= bytes else { return }
    try terminal.write(buffer)
    buffer.removeAll(keepingCapacity: true)
  }
}
