package import Receipts
import Signing

/// Why a row of the input is of no use: stable words, counted in the summary and written beside the rejected row.
package struct RejectReason: Error, Hashable, Sendable {
  /// A code of `ReceiptError`, or one of those below.
  package let code: String

  package init(_ refusal: ReceiptError.Code) { code = refusal.rawValue }

  private init(code: String) { self.code = code }

  /// Not a row of the table, or not JSON: nothing can be said of a receipt in it.
  static let malformedRow = Self(code: "malformedRow")
  /// A user id or an app that is no UTF-8, as Excel writes it on Windows: several users would read as one.
  static let notUTF8 = Self(code: "notUTF8")
  static let empty = Self(code: ReceiptError.Code.empty.rawValue)
  /// A row longer than the limit.
  static let tooLarge = Self(code: ReceiptError.Code.tooLarge.rawValue)

  /// What a bulk migration refuses beside receipts: the words of `Refusal.Code` of the adapter, and its own.
  package static let migrationWords = [
    "notJSON", "notAMessage", "notificationV1NotYet", "verifyReceiptStatus", "tooManyRows", "environmentUnknown",
    "valueTooLong", "userIdContradicts", "unknownSubscription", "missingIdentity", "missingSignedDate", "unknownApp",
    "appAppleIdNotRegistered", "wrongAppAppleId", "wrongBundle", "appNotNamed", "noSharedSecret",
    "missingSharedSecret", "wrongSharedSecret", "secretRepeated", "userIdIsSecret", "damagedFile", "unexpected",
  ]

  /// - Parameter word: one of `migrationWords`, or a code of `VerificationError`; anything else is `unexpected`.
  package init(word: String) {
    code = Self.known.contains(Array(word.utf8)) ? word : "unexpected"
  }

  private static let known: Set<[UInt8]> = Set(
    (ReceiptError.Code.allCases.map(\.rawValue) + [malformedRow, notUTF8].map(\.code) + migrationWords
      + VerificationError.Code.allCases.map(\.rawValue)).map { Array($0.utf8) })

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
