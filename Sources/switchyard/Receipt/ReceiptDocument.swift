import JSON
import Purchases
import Receipts
import Runtime
import Signing
import Time

/// A receipt and its result, with stable keys.
struct ReceiptDocument {
  private let file: String
  private let reading: ReceiptReadResult?
  private let problem: String?

  init(file: String, reading: ReceiptReadResult) {
    (self.file, self.reading, problem) = (file, reading, nil)
  }

  init(file: String, unreadable problem: String) {
    (self.file, reading, self.problem) = (file, nil, problem)
  }

  private var verified: VerifiedReceipt? {
    if case .verified(let verified)? = reading { verified } else { nil }
  }

  var isVerified: Bool { verified != nil }
  var isReadable: Bool { reading?.receipt != nil }

  private var reason: String? { problem == nil ? reading?.refusal?.code.rawValue : "unreadableFile" }
  private var detail: String? { problem ?? reading?.refusal?.detail }

  /// One object with every stable key; null means unknown.
  var json: JSONObject {
    let receipt = reading?.receipt
    var object: JSONObject = ["file": .string(file)]
    object["kind"] = JSONValue(receipt?.kind)
    object["verified"] = .bool(isVerified)
    object["reason"] = JSONValue(reason)
    object["bundleId"] = JSONValue(receipt?.bundleID)
    object["environment"] = JSONValue(receipt?.environment?.rawValue)
    object["receiptType"] = JSONValue(receipt?.app?.receiptType)
    object["createdAt"] = JSONValue(receipt?.app?.createdAt?.sinceEpoch)
    object["originalTransactionIds"] = .array((receipt?.originalTransactionIDs ?? []).map(JSONValue.string))
    object["purchases"] = .array((receipt?.rows ?? []).map { .object($0.json) })
    if let detail { object["detail"] = .string(detail) }
    if let kind = reading?.refusal?.jwsKind { object["jwsKind"] = .string(kind.rawValue) }
    if let app = receipt?.app { Self.add(app, to: &object) }
    if let claimed = receipt?.transaction?.claimedEnvironment {
      object["unsignedEnvironment"] = .string(claimed.rawValue)
    }
    if let verified {
      object["root"] = JSONValue(verified.proof.root?.hex)
      object["signer"] = .string(verified.proof.signer.hex)
      object["repairs"] = .array(verified.repairs.map(\.rawValue).sorted().map(JSONValue.string))
    }
    return object
  }

  private static func add(_ app: AppReceipt, to object: inout JSONObject) {
    object["applicationVersion"] = JSONValue(app.applicationVersion)
    object["originalApplicationVersion"] = JSONValue(app.originalApplicationVersion)
    object["originalPurchaseDate"] = JSONValue(app.originalPurchaseDate?.sinceEpoch)
    object["expirationDate"] = JSONValue(app.expirationDate?.sinceEpoch)
    object["unknownAttributes"] = .integer(Int64(app.unknownAttributes))
    object["unreadableAttributes"] = .integer(Int64(app.unreadableAttributes))
  }

  /// Returns text for people: the kind, then a table of the purchases.
  func text(for terminal: Terminal) -> String {
    let receipt = reading?.receipt
    let verdict = isVerified ? "VERIFIED" : "\(isReadable ? "REFUSED" : "UNREADABLE") \(reason ?? ""): \(detail ?? "")"
    var text = "\(file.plain): \(verdict)\n"
    guard let receipt else { return text }
    let what = receipt.kind == "app" ? "app receipt" : "iOS 6 transaction receipt"
    let created = receipt.app?.createdAt.map { " of \($0.iso8601)" } ?? ""
    text += "  \(what)\(created), \((receipt.bundleID ?? "no app").plain), "
    text += "\(receipt.app?.receiptType.map(\.plain) ?? "environment not signed")\n"
    if let proof = verified?.proof {
      let root = proof.root.map { "root \($0.hex.prefix(16))…" } ?? "a pinned signer"
      text += "  signed by \(root), signer \(proof.signerSerialNumber)\n"
    }
    let ids = receipt.originalTransactionIDs
    text += "  \(receipt.rows.count) purchases, \(ids.count) original transaction ids\n"
    guard !receipt.rows.isEmpty else { return text }
    var table = TextTable([
      .init("original"), .init("transaction"), .init("product"), .init("type"), .init("purchased"), .init("expires"),
      .init("cancelled"),
    ])
    for row in receipt.rows { table.add(row.cells) }
    return text + table.render(for: terminal)
  }
}

extension Receipt {
  fileprivate var kind: String {
    switch self {
    case .app: "app"
    case .transaction: "transaction"
    }
  }

  fileprivate var app: AppReceipt? { if case .app(let receipt) = self { receipt } else { nil } }
  fileprivate var transaction: TransactionReceipt? { if case .transaction(let receipt) = self { receipt } else { nil } }

  fileprivate var rows: [PurchaseRow] {
    switch self {
    case .app(let receipt): receipt.purchases.map(PurchaseRow.init)
    case .transaction(let receipt): [PurchaseRow(receipt)]
    }
  }
}
