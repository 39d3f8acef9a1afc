import Adapter
import JSON
import Purchases
import Runtime
import Time
import Wire

/// The conversion result for people: the app, customer and proof, then a table of each kind.
struct ConvertedText {
  private let converted: ConversionResult
  private let document: JSONObject

  init(_ converted: ConversionResult) {
    self.converted = converted
    document = CanonicalDocument(converted).json
  }

  func text(for terminal: Terminal) -> String {
    let findings = converted.findings
    let isNamed = (
      app: !converted.unknown.contains("bundleId"), environment: !converted.unknown.contains("environment")
    )
    var text = "\(isNamed.app ? findings.app.plain : "an app that is not named") in "
    text += "\(isNamed.environment ? findings.environment.rawValue : "an environment that is not named"), \(voucher)\n"
    if !converted.given.isEmpty { text += "  as you said: \(converted.given.joined(separator: ", "))\n" }
    if !converted.claimed.isEmpty { text += "  claimed, not signed: \(converted.claimed.joined(separator: ", "))\n" }
    for (what, fields) in [
      ("fields", converted.survey.unknownFields), ("types", converted.survey.unusableFields),
      ("values", converted.survey.unknownValues),
    ] where !fields.isEmpty {
      text += "  \(what) not known to this build: \(fields.map(\.plain).joined(separator: ", "))\n"
    }
    for section in Self.sections { text += section.text(of: document, for: terminal) }
    return text
  }

  private var voucher: String {
    switch converted.trust {
    case .signature: "signed by Apple"
    case .receipt: "by a receipt that Apple signed"
    case .sharedSecret: "unsigned, from a holder of the shared secret"
    case .apple: "as Apple answered"
    case .none: "UNVERIFIED"
    }
  }

  private static let sections = [
    Section(
      "events",
      ["date", "notificationType", "subtype", "originalTransactionId", "transactionId", "rules"]),
    Section(
      "purchases",
      [
        "originalTransactionId", "transactionId", "productId", "type", "purchaseDate", "expiresDate", "revocationDate",
      ]),
    Section(
      "renewals",
      ["originalTransactionId", "autoRenewProductId", "autoRenewStatus", "renewalDate", "gracePeriodExpiresDate"]),
    Section("appTransactions", ["appTransactionId", "originalApplicationVersion", "originalPurchaseDate"]),
  ]
}

extension ConvertedText {
  private struct Section {
    let name: String
    let columns: [String]

    init(_ name: String, _ columns: [String]) {
      self.name = name
      self.columns = columns
    }

    func text(of document: JSONObject, for terminal: Terminal) -> String {
      guard let elements = document[name]?.array, !elements.isEmpty else { return "" }
      var table = TextTable(columns.map { TextTable.Column($0) })
      for element in elements { table.add(columns.map { Self.cell(element.object?[$0], $0) }) }
      return "\n\(name)\n" + table.render(for: terminal)
    }

    private static func cell(_ value: JSONValue?, _ column: String) -> String {
      guard let value else { return "-" }
      if column.hasSuffix("ate"), let date = value.milliseconds { return date.iso8601 }
      if let words = value.array { return words.compactMap(\.string).joined(separator: " ") }
      return value.string ?? String(decoding: value.encoded(), as: UTF8.self)
    }
  }
}
