import Time

package enum SQLValue: Hashable, Sendable {
  case null
  case integer(Int64)
  case unsigned(UInt64)
  case bytes([UInt8])
  case text(String)
}

package protocol SQLConvertible: Sendable {
  var sqlValue: SQLValue { get }
}

extension SQLValue: SQLConvertible {
  package var sqlValue: SQLValue { self }
}

extension Int64: SQLConvertible {
  package var sqlValue: SQLValue { .integer(self) }
}

extension Int: SQLConvertible {
  package var sqlValue: SQLValue { .integer(Int64(self)) }
}

extension UInt64: SQLConvertible {
  package var sqlValue: SQLValue { .unsigned(self) }
}

extension Bool: SQLConvertible {
  package var sqlValue: SQLValue { .integer(self ? 1 : 0) }
}

extension String: SQLConvertible {
  package var sqlValue: SQLValue { .text(self) }
}

extension [UInt8]: SQLConvertible {
  package var sqlValue: SQLValue { .bytes(self) }
}

extension Timestamp: SQLConvertible {
  package var sqlValue: SQLValue { .integer(sinceEpoch) }
}

extension Optional: SQLConvertible where Wrapped: SQLConvertible {
  package var sqlValue: SQLValue {
    switch self {
    case .some(let value): value.sqlValue
    case .none: .null
    }
  }
}
