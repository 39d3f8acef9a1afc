package import Receipts

/// Why a row of the input is of no use: stable words, counted in the summary and written beside the rejected row.
package struct RejectReason: Hashable, Sendable {
  /// A code of `ReceiptRefusal`, or one of those below.
  package let code: String

  package init(_ refusal: ReceiptRefusal.Code) { code = refusal.rawValue }

  private init(code: String) { self.code = code }

  /// Not a row of the table, or not JSON: nothing can be said of a receipt in it.
  static let malformedRow = Self(code: "malformedRow")
  /// A user id or an app that is no UTF-8, as Excel writes it on Windows: several users would read as one.
  static let notUTF8 = Self(code: "notUTF8")
  static let empty = Self(code: ReceiptRefusal.Code.empty.rawValue)
  /// A row longer than the limit.
  static let tooLarge = Self(code: ReceiptRefusal.Code.tooLarge.rawValue)

  private static let known: Set<[UInt8]> = Set(
    ReceiptRefusal.Code.allCases.map { Array($0.rawValue.utf8) } + [malformedRow, notUTF8].map { Array($0.code.utf8) })

  /// Whether a field says why an earlier run rejected its row.
  static func isKnown(_ field: ArraySlice<UInt8>) -> Bool { known.contains(Array(field)) }

  /// The reason that a field names; nil when it names none.
  init?(known field: ArraySlice<UInt8>) {
    guard field.count <= Self.longest, Self.isKnown(field) else { return nil }
    code = String(decoding: field, as: UTF8.self)
  }

  private static let longest = known.lazy.map(\.count).max() ?? 0

  /// Whether a row stays rejected until its reason is removed from the rejects.
  ///
  /// The rejects have only a part of such a row, or cannot tell whether they have all of it.
  var stays: Bool { self == .malformedRow || self == .tooLarge }
}
