/// An operator's condition on their table, for a WHERE in brackets.
///
/// The only run-time text that becomes SQL: its author has the account anyway. It is limited to one expression, so that
/// a typing error causes an error instead of another statement.
package struct WhereClause: Hashable, Sendable {
  package let text: String

  /// The reason why a text is not a condition.
  package enum Flaw: String, Error, Sendable {
    case empty, tooLong, comment, secondStatement, brackets, quotes
  }

  package init(_ text: String) throws(Flaw) {
    guard text.utf8.count <= 4_096 else { throw .tooLong }
    guard text.utf8.contains(where: { $0 > 0x20 }) else { throw .empty }
    var (depth, quote): (Int, UInt8?) = (0, nil)
    var isEscaped = false
    for byte in text.utf8 {
      if isEscaped {
        isEscaped = false
      } else if let open = quote {
        if byte == UInt8(ascii: "\\"), open != UInt8(ascii: "`") { isEscaped = true }
        if byte == open { quote = nil }
      } else {
        switch byte {
        case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"): quote = byte
        case UInt8(ascii: "("): depth += 1
        case UInt8(ascii: ")"):
          depth -= 1
          if depth < 0 { throw .brackets }
        case UInt8(ascii: ";"): throw .secondStatement
        case UInt8(ascii: "#"): throw .comment
        default: break
        }
      }
    }
    guard quote == nil, !isEscaped else { throw .quotes }
    guard depth == 0 else { throw .brackets }
    if text.contains("--") || text.contains("/*") { throw .comment }
    self.text = text
  }
}
