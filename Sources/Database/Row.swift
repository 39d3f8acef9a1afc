package import Time

/// One row of a result.
///
/// Columns are read by name or index, each as the requested type. A column that is absent, NULL instead of a value, or
/// of another type is a `DatabaseError`, never a trap. Lossless conversions are allowed: an unsigned value that fits
/// `Int64`, UTF-8 bytes as text, text as bytes.
package struct Row: Sendable, Equatable {
  private let names: [String]
  package let values: [SQLValue]

  init(names: [String], values: [SQLValue]) {
    self.names = names
    self.values = values
  }

  /// A column by its name, or by its position from 0.
  package enum Column: Sendable, Hashable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
    case name(String)
    case index(Int)

    package init(stringLiteral name: String) { self = .name(name) }
    package init(integerLiteral index: Int) { self = .index(index) }
  }

  /// Returns the unconverted value, NULL included.
  package func value(_ column: Column) throws(DatabaseError) -> SQLValue {
    switch column {
    case .index(let index):
      guard values.indices.contains(index) else { throw absent("\(index) of \(values.count)") }
      return values[index]
    case .name(let name):
      guard let index = names.firstIndex(of: name) else { throw absent("'\(name)'") }
      return values[index]
    }
  }

  package func int64(_ column: Column) throws(DatabaseError) -> Int64 {
    try some(optionalInt64(column), column)
  }

  package func optionalInt64(_ column: Column) throws(DatabaseError) -> Int64? {
    switch try value(column) {
    case .null: return nil
    case .integer(let value): return value
    case .unsigned(let value):
      guard let fits = Int64(exactly: value) else { throw wrongKind(column, "a signed 64-bit integer") }
      return fits
    case .bytes, .text: throw wrongKind(column, "an integer")
    }
  }

  package func uint64(_ column: Column) throws(DatabaseError) -> UInt64 {
    try some(optionalUInt64(column), column)
  }

  package func optionalUInt64(_ column: Column) throws(DatabaseError) -> UInt64? {
    switch try value(column) {
    case .null: return nil
    case .unsigned(let value): return value
    case .integer(let value):
      guard let fits = UInt64(exactly: value) else { throw wrongKind(column, "an unsigned integer") }
      return fits
    case .bytes, .text: throw wrongKind(column, "an integer")
    }
  }

  package func int(_ column: Column) throws(DatabaseError) -> Int { Int(try int64(column)) }

  package func optionalInt(_ column: Column) throws(DatabaseError) -> Int? {
    try optionalInt64(column).map { Int($0) }
  }

  /// Returns false for 0, true for any other integer.
  package func bool(_ column: Column) throws(DatabaseError) -> Bool { try int64(column) != 0 }

  package func milliseconds(_ column: Column) throws(DatabaseError) -> Timestamp {
    Timestamp(try int64(column))
  }

  package func optionalMilliseconds(_ column: Column) throws(DatabaseError) -> Timestamp? {
    try optionalInt64(column).map { Timestamp($0) }
  }

  package func bytes(_ column: Column) throws(DatabaseError) -> [UInt8] {
    try some(optionalBytes(column), column)
  }

  package func optionalBytes(_ column: Column) throws(DatabaseError) -> [UInt8]? {
    switch try value(column) {
    case .null: return nil
    case .bytes(let value): return value
    case .text(let value): return Array(value.utf8)
    case .integer, .unsigned: throw wrongKind(column, "bytes")
    }
  }

  package func text(_ column: Column) throws(DatabaseError) -> String {
    try some(optionalText(column), column)
  }

  package func optionalText(_ column: Column) throws(DatabaseError) -> String? {
    switch try value(column) {
    case .null: return nil
    case .text(let value): return value
    case .bytes(let value):
      guard let text = String(validating: value, as: UTF8.self) else { throw wrongKind(column, "text") }
      return text
    case .integer, .unsigned: throw wrongKind(column, "text")
    }
  }

  private func some<Value>(_ value: Value?, _ column: Column) throws(DatabaseError) -> Value {
    guard let value else { throw DatabaseError(.column, "column \(described(column)) is NULL") }
    return value
  }

  private func absent(_ what: String) -> DatabaseError { DatabaseError(.column, "the result has no column \(what)") }

  private func wrongKind(_ column: Column, _ wanted: String) -> DatabaseError {
    DatabaseError(.column, "column \(described(column)) is not \(wanted)")
  }

  private func described(_ column: Column) -> String {
    switch column {
    case .name(let name): "'\(name)'"
    case .index(let index): "\(index)"
    }
  }
}
