import Adapter
import JSON
import LegacyAnswers
import Mappings
import Purchases
import Runtime
import Time

/// What files tell of the customer of a receipt: signed V2 data, and Apple's earlier answers.
///
/// All of them are taken for one Apple account's: nothing here knows better.
struct ConvertedFacts {
  /// Why a file is no such thing.
  struct Refusal: Error {
    let file: String
    let code: String
    let detail: String
    let next: String
  }

  private let conversion: Conversion
  private let now: Milliseconds
  private var purchases: [PurchaseStatement] = []
  private var renewals: [RenewalStatement] = []
  private var events: [Event] = []

  init(_ conversion: Conversion, now: Milliseconds) { (self.conversion, self.now) = (conversion, now) }

  /// Takes in one file: any one input of `switchyard convert`, or one on each line.
  mutating func add(_ bytes: [UInt8], file: String, of app: String, in environment: Environment) throws(Refusal) {
    for input in Self.inputs(bytes) {
      let converted: Converted
      do throws(ConversionRefusal) { converted = try conversion.read(input, now: now) } catch {
        throw Refusal(file: file, code: error.code, detail: error.detail, next: error.next)
      }
      let findings = converted.findings
      let isNamed = !converted.unknown.contains("bundleId")
      guard findings.app == app || !isNamed else {
        throw Refusal(
          file: file, code: "wrongBundle", detail: "it is of \(findings.app), the receipt is of \(app)",
          next: "give the files of one customer of one app")
      }
      guard findings.environment == environment || converted.unknown.contains("environment") else {
        throw Refusal(
          file: file, code: "wrongEnvironment",
          detail: "it is of \(findings.environment.rawValue), the receipt is of \(environment.rawValue)",
          next: "give the files of the receipt's environment")
      }
      purchases += findings.purchases
      renewals += findings.renewals
      events += findings.events
    }
  }

  /// A file of lines, each a JWS or an object; else the whole file.
  private static func inputs(_ bytes: [UInt8]) -> [[UInt8]] {
    let lines = bytes.split { $0 == 0x0A || $0 == 0x0D }.map { Array($0.drop { $0 <= 0x20 }) }.filter { !$0.isEmpty }
    let isList =
      lines.count > 1
      && lines.allSatisfy { line in
        line.starts(with: "eyJ".utf8) || line.first == UInt8(ascii: "{") && line.last == UInt8(ascii: "}")
      }
    return isList ? lines : [bytes]
  }

  /// What an answer is composed from.
  var customer: CustomerFacts {
    let vocabulary = Vocabulary.embedded
    var answered: [PurchaseKey: PurchaseStatement] = [:]
    for statement in purchases where statement.source == .verifyReceiptAnswer {
      if statement.rank >= answered[statement.key]?.rank ?? statement.rank { answered[statement.key] = statement }
    }
    let signed = purchases.filter { $0.source == .signedV2 }
    let transactions = Purchase.fold(signed, rules: vocabulary.purchases.rules).map { purchase in
      CustomerFacts.Transaction(
        purchase.facts,
        answered: answered[purchase.key].map {
          CustomerFacts.AnsweredRow(
            transactionID: $0.facts.text(.transactionId), originalPurchaseDate: $0.facts.date(.originalPurchaseDate))
        })
    }
    return CustomerFacts(transactions: transactions, renewals: told)
  }

  /// The newest word on each subscription, in the order in which they were first bought.
  private var told: [CustomerFacts.Renewal] {
    let asked = Set(
      events.filter { $0.notificationType == "PRICE_INCREASE" && $0.subtype == "PENDING" }
        .compactMap(\.originalTransactionID))
    var newest: [String: RenewalStatement] = [:]
    for statement in renewals where statement.source == .signedV2 {
      let id = statement.key.originalTransactionID
      if statement.rank >= newest[id]?.rank ?? statement.rank { newest[id] = statement }
    }
    var first: [String: Milliseconds] = [:]
    for purchase in purchases where purchase.source == .signedV2 {
      guard let date = purchase.facts.date(.purchaseDate) else { continue }
      let id = purchase.key.originalTransactionID
      first[id] = min(first[id] ?? date, date)
    }
    return newest.sorted { a, b in
      let (left, right) = (first[a.key] ?? Milliseconds(.min), first[b.key] ?? Milliseconds(.min))
      return left == right ? a.key < b.key : left < right
    }.map { id, statement in
      CustomerFacts.Renewal(
        statement.facts, statedAt: statement.rank.asOf, wasAskedToConsent: asked.contains(id))
    }
  }
}
