/// Header fields in the order they came, looked up without regard to case.
///
/// They stay packed bytes (`name NUL value NUL …`) until one is asked for: most fields of most requests never become a
/// `String`.
package struct HTTPHeaders: Sendable, ExpressibleByDictionaryLiteral {
  /// Where one field lies in `packed`; each part is followed by a NUL, for C.
  struct Field: Sendable {
    var name: Range<Int>
    var value: Range<Int>
  }

  private(set) var packed: [UInt8] = []
  private(set) var layout: [Field] = []

  package init() {}

  package init(dictionaryLiteral elements: (String, String)...) {
    for (name, value) in elements { append(name, value) }
  }

  /// How many fields there are.
  package var count: Int { layout.count }

  /// Every field, in order.
  package var fields: [(name: String, value: String)] {
    layout.map { (text(in: $0.name), text(in: $0.value)) }
  }

  package mutating func append(_ name: String, _ value: String) {
    append(name: name.utf8, value: value.utf8)
  }

  /// The value of the first field called `name`.
  package subscript(_ name: String) -> String? {
    for field in layout where matches(field, name) { return text(in: field.value) }
    return nil
  }

  /// The values of all fields called `name`, in order.
  package func all(_ name: String) -> [String] {
    layout.filter { matches($0, name) }.map { text(in: $0.value) }
  }

  package func contains(_ name: String) -> Bool {
    layout.contains { matches($0, name) }
  }

  /// Whether the value of the first field called `name` equals `value`, without regard to case.
  func equals(_ name: String, _ value: String) -> Bool {
    guard let field = layout.first(where: { matches($0, name) }) else { return false }
    return Self.sameLetters(packed[field.value], value.utf8)
  }

  /// How many fields are called `name`.
  func occurrences(of name: String) -> Int {
    layout.count { matches($0, name) }
  }

  mutating func reserve(bytes: Int, fields: Int) {
    packed.reserveCapacity(bytes)
    layout.reserveCapacity(fields)
  }

  mutating func append(name: some Collection<UInt8>, value: some Collection<UInt8>) {
    let start = packed.count
    packed.append(contentsOf: name)
    let nameEnd = packed.count
    packed.append(0)
    packed.append(contentsOf: value)
    layout.append(Field(name: start..<nameEnd, value: nameEnd + 1..<packed.count))
    packed.append(0)
  }

  /// Appends a field that was read in place; the bytes are UTF-8 or kept as they are.
  mutating func append(name: Span<UInt8>, value: Span<UInt8>) {
    let start = packed.count
    unsafe name.withUnsafeBufferPointer { unsafe packed.append(contentsOf: $0) }
    let nameEnd = packed.count
    packed.append(0)
    unsafe value.withUnsafeBufferPointer { unsafe packed.append(contentsOf: $0) }
    layout.append(Field(name: start..<nameEnd, value: nameEnd + 1..<packed.count))
    packed.append(0)
  }

  /// Returns whether `item` is in the comma-separated values of the fields called `name`, without regard to case.
  func lists(_ item: String, in name: String) -> Bool {
    layout.contains { field in
      matches(field, name)
        && packed[field.value].split(separator: UInt8(ascii: ",")).contains { part in
          let trimmed = part.drop(while: \.isBlank)
          let end = trimmed.lastIndex { !$0.isBlank }.map { $0 + 1 } ?? trimmed.startIndex
          return Self.sameLetters(trimmed[..<end], item.utf8)
        }
    }
  }

  private func text(in range: Range<Int>) -> String { String(decoding: packed[range], as: UTF8.self) }

  private func matches(_ field: Field, _ name: String) -> Bool {
    field.name.count == name.utf8.count && Self.sameLetters(packed[field.name], name.utf8)
  }

  private static func sameLetters(_ a: ArraySlice<UInt8>, _ b: String.UTF8View) -> Bool {
    a.elementsEqual(b) { lowercase($0) == lowercase($1) }
  }

  private static func lowercase(_ byte: UInt8) -> UInt8 {
    byte.isCapital ? byte | 0x20 : byte
  }
}
