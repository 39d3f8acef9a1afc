import AppStore
import JSON
import Runtime
import Signing
import Time
import Wire

/// Transactions as a table for people, or as an object a line.
struct SignedRows {
  private var table = TextTable([
    .init("TRANSACTION"), .init("ORIGINAL"), .init("PRODUCT"), .init("PURCHASED"), .init("EXPIRES"), .init("REVOKED"),
    .init("OWNERSHIP"),
  ])
  private(set) var refused = 0
  private(set) var count = 0
  private let wantsJSON: Bool
  private let terminal: Terminal

  init(_ access: APIAccess, _ terminal: Terminal) {
    wantsJSON = access.wantsJSON
    self.terminal = terminal
  }

  /// Adds what Apple signed; what cannot be proven is told and counted, never shown as if it were.
  mutating func add(_ item: SignedItem) throws {
    count += 1
    switch item.outcome {
    case .failure(let error):
      refused += 1
      if wantsJSON {
        try terminal.write(["error": ["code": .string(error.code.rawValue), "detail": .string(error.detail)]])
      } else {
        terminal.note("REFUSED \(error)")
      }
    case .success(let verified):
      if wantsJSON { return try terminal.write(verified.payload) }
      let payload = TransactionPayload(verified.payload)
      table.add([
        payload.transactionId ?? "-", payload.originalTransactionId ?? "-", payload.productId ?? "-",
        payload.purchaseDate?.iso8601 ?? "-", payload.expiresDate?.iso8601 ?? "",
        payload.revocationDate?.iso8601 ?? "", payload.inAppOwnershipType ?? "",
      ])
    }
  }

  /// Prints the table, and tells how it went.
  func finish() throws -> ExitStatus {
    if !wantsJSON { try terminal.write(table.render(for: terminal)) }
    if refused > 0 { terminal.note("\(refused) of \(count) could not be proven") }
    return refused == 0 ? .done : refused == count ? .failed : .doneWithRejects
  }
}

/// A member of an answer as a line of text.
enum MemberText {
  static func line(_ member: JSONObject.Member) -> String {
    let key = String(decoding: JSONValue.string(member.key).encoded(), as: UTF8.self)
    let name = key == "\"\(member.key)\"" ? member.key : key
    if case .integer(let number) = member.value, member.key.hasSuffix("Date") {
      return "\(name): \(number) (\(Milliseconds(number).iso8601))"
    }
    return "\(name): \(String(decoding: member.value.encoded(), as: UTF8.self))"
  }
}
