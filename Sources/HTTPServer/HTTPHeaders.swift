/// Header fields in the order of arrival, with case-insensitive names.
///
/// They stay packed bytes (`name NUL value NUL …`) until one is read: most fields of most requests never become a
/// `String`.
package struct HTTPHeaders: Sendable, ExpressibleByDictionaryLiteral {
  /// The location of a field in `packed`; each part is followed by a NUL, for C.
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

  package var count: Int { layout.count }

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

  /// Returns the values of all fields called `name`, in order.
  package func all(_ name: String) -> [String] {
    layout.filter { matches($0, name) }.map { text(in: $0.value) }
  }

  package func contains(_ name: String) -> Bool {
    layout.contains { matches($0, name) }
  }

  /// Whether the value of the first field called `name` equals `value`, case-insensitively.
  func equals(_ name: String, _ value: String) -> Bool {
    guard let found = find(name).first else { return false }
    return Self.sameLetters(packed.span.extracting(found), value.utf8Span.span)
  }

  /// Returns the number of fields called `name`, and the range of the first value in `packed`.
  func find(_ name: String) -> (count: Int, first: Range<Int>?) {
    var found: (count: Int, first: Range<Int>?) = (0, nil)
    for field in layout where matches(field, name) {
      found.count += 1
      if found.first == nil { found.first = field.value }
    }
    return found
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

  /// Appends a parsed field; the bytes are UTF-8 or kept unchanged.
  mutating func append(name: Span<UInt8>, value: Span<UInt8>) {
    let start = packed.count
    unsafe name.withUnsafeBufferPointer { unsafe packed.append(contentsOf: $0) }
    let nameEnd = packed.count
    packed.append(0)
    unsafe value.withUnsafeBufferPointer { unsafe packed.append(contentsOf: $0) }
    layout.append(Field(name: start..<nameEnd, value: nameEnd + 1..<packed.count))
    packed.append(0)
  }

  /// Whether `item` is in the comma-separated values of the fields called `name`, case-insensitively.
  func lists(_ item: String, in name: String) -> Bool {
    layout.contains { field in
      matches(field, name)
        && packed[field.value].split(separator: UInt8(ascii: ",")).contains { part in
          let trimmed = part.drop(while: \.isBlank)
          let end = trimmed.lastIndex { !$0.isBlank }.map { $0 + 1 } ?? trimmed.startIndex
          return Self.sameLetters(packed.span.extracting(trimmed.startIndex..<end), item.utf8Span.span)
        }
    }
  }

  private func text(in range: Range<Int>) -> String { String(decoding: packed[range], as: UTF8.self) }

  private func matches(_ field: Field, _ name: String) -> Bool {
    field.name.count == name.utf8.count
      && Self.sameLetters(packed.span.extracting(field.name), name.utf8Span.span)
  }

  private static func sameLetters(_ a: Span<UInt8>, _ b: Span<UInt8>) -> Bool {
    guard a.count == b.count else { return false }
    for index in a.indices where lowercase(a[index]) != lowercase(b[index]) { return false }
    return true
  }

  private static func lowercase(_ byte: UInt8) -> UInt8 {
    byte.isCapital ? byte | 0x20 : byte
  }
}
