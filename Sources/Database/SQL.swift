/// A statement with a text of literals only, and its arguments.
///
/// An interpolation becomes a `?` and an argument. A run-time string cannot become text: there is no initializer for
/// one. Pieces may be concatenated, since each has only literals too.
///
/// ```swift
/// let find: SQL = "SELECT state FROM ledger WHERE id = \(id) AND kind IN (\(list: kinds))"
/// ```
package struct SQL: Sendable, Equatable {
  package private(set) var text: String
  package private(set) var arguments: [SQLValue]

  private init(text: String, arguments: [SQLValue]) {
    self.text = text
    self.arguments = arguments
  }

  package static func + (a: SQL, b: SQL) -> SQL {
    SQL(text: a.text + b.text, arguments: a.arguments + b.arguments)
  }

  package static func += (a: inout SQL, b: SQL) {
    a.text += b.text
    a.arguments += b.arguments
  }
}

extension SQL: ExpressibleByStringInterpolation {
  package init(stringLiteral literal: StaticString) {
    self.init(text: literal.description, arguments: [])
  }

  package init(stringInterpolation pieces: Interpolation) {
    self.init(text: pieces.text, arguments: pieces.arguments)
  }

  /// Collects literals as text and all other values as arguments.
  package struct Interpolation: StringInterpolationProtocol {
    fileprivate var text = ""
    fileprivate var arguments: [SQLValue] = []

    package init(literalCapacity: Int, interpolationCount: Int) {
      text.reserveCapacity(literalCapacity + interpolationCount)
      arguments.reserveCapacity(interpolationCount)
    }

    package mutating func appendLiteral(_ literal: StaticString) { text += literal.description }

    package mutating func appendInterpolation(_ value: some SQLConvertible) {
      text += "?"
      arguments.append(value.sqlValue)
    }

    /// Appends NULL for `nil`.
    ///
    /// A separate overload, because the compiler warns about an unexpected optional.
    package mutating func appendInterpolation<Value: SQLConvertible>(_ value: Value?) {
      text += "?"
      arguments.append(value.sqlValue)
    }

    /// Appends the elements for `IN (…)`, one `?` each.
    ///
    /// An empty list becomes a subquery without rows, so that `IN` is false and `NOT IN` true.
    package mutating func appendInterpolation(list: [some SQLConvertible]) {
      guard !list.isEmpty else { return text += "SELECT NULL FROM DUAL WHERE FALSE" }
      // Padded to a power of two: otherwise the server would prepare a statement for every length.
      var padded = list.map(\.sqlValue)
      while padded.count & (padded.count - 1) != 0, let last = padded.last { padded.append(last) }
      text += "?" + String(repeating: ",?", count: padded.count - 1)
      arguments += padded
    }

    /// Appends the quoted name of a database, table or partition that is known only at run time.
    package mutating func appendInterpolation(identifier name: String) {
      text += "`" + name.split(separator: "`", omittingEmptySubsequences: false).joined(separator: "``") + "`"
    }

    /// Appends an operator's condition in brackets.
    package mutating func appendInterpolation(condition: WhereClause) { text += "(\(condition.text))" }

    /// Appends a number in a position that requires a literal.
    package mutating func appendInterpolation(digits number: Int64) { text += String(number) }

    package mutating func appendInterpolation(_ piece: SQL) {
      text += piece.text
      arguments += piece.arguments
    }
  }
}

extension [SQL] {
  package func joined(separator: SQL) -> SQL {
    var whole: SQL = ""
    for (index, piece) in enumerated() {
      if index > 0 { whole += separator }
      whole += piece
    }
    return whole
  }
}
