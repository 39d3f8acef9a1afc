import JSON
import LegacyAnswers
import Purchases
import Receipts
import Signing
import Simulator
import Time

/// An answer of verifyReceipt composed from a receipt and V2 facts, on one core.
///
/// The customer has 200 monthly periods, all of them known from V2, the newest hundred in the receipt. Beside it the same
/// answer is only written: its JSON tree, made beforehand, becomes bytes. 60 rounds of each in turns, 20 answers a round;
/// medians of the thread's time. Then the same customer with 10,000 periods, beside the one of 200 in the same turns.
enum ComposeAnswer {
  private static let name = "answers.compose"

  static let benchmark = Benchmark(
    name: name, summary: "an answer of verifyReceipt composed from a receipt and 200 rows of history"
  ) { settings in
    let composer = ResponseComposer(try ComposerRules(choosing: []))
    let small = try customer(of: 200)
    let large = try customer(of: 10_000)
    let bytes = composer.answer(small.request, small.facts)
    var limits = JSONLimits.standard
    limits.bytes = 64 << 20
    let tree = try JSONReader.read(bytes, limits: limits)
    guard tree.encoded() == bytes, tree.object?["latest_receipt_info"]?.array?.count == 200 else {
      throw BenchmarkError("the composed answer is not the one that is written")
    }
    let rounds = Rounds(count: 60)
    let (composed, written) = rounds.medians(
      { for _ in 0..<20 { precondition(composer.answer(small.request, small.facts).count == bytes.count) } },
      { for _ in 0..<20 { precondition(tree.encoded().count == bytes.count) } })
    let (tenThousand, twoHundred) = Rounds(count: 15).medians(
      { precondition(composer.answer(large.request, large.facts).count > bytes.count) },
      { precondition(composer.answer(small.request, small.facts).count == bytes.count) })
    let times = [composed / 20, written / 20, tenThousand].map { Figure.text($0 / 1_000) }
    settings.note(
      "  \(bytes.count) bytes; composed \(times[0]) us, written \(times[1]) us; 10,000 rows composed in \(times[2]) us")
    return [
      Measurement(
        name: name, value: 20e9 / composed, unit: "answers/s", against: 20e9 / written,
        peer: "writing its JSON alone", target: .atLeast(0.5)),
      Measurement(
        name: "answers.compose.large", value: tenThousand / twoHundred, unit: "times 200 rows", target: .below(60)),
    ]
  }

  private static func customer(of count: Int) throws -> (request: ComposerRequest, facts: CustomerFacts) {
    let pki = try ReceiptPKI.generate(at: NotificationSamples.start)
    let product = Product.subscription("pro.monthly", group: "20662382", every: .months(1), price: 4_990)
    var ids = IdentifierSource(environment: .sandbox, seed: 1, life: 1)
    let buyer = Customer(
      name: "", storefront: .germany, appTransactionID: ids.appTransactionID(), appAccountToken: ids.uuid())
    var periods = (0..<count).map { period in
      // A life has ids for 135 periods.
      if period > 0, period.isMultiple(of: 100) {
        ids = IdentifierSource(environment: .sandbox, seed: 1, life: 1 + period / 100)
      }
      return SimulatedTransaction(
        of: product, by: buyer, in: ReceiptSamples.app,
        at: NotificationSamples.start - .hours(Int64(count - period)), ids: &ids)
    }
    for index in periods.indices.dropFirst() { periods[index].originalTransactionID = periods[0].transactionID }
    let sold = Array(periods.suffix(count / 2))
    let data = try SimulatedReceipt(of: ReceiptSamples.app, purchases: sold, createdAt: NotificationSamples.start)
      .encoded(signedBy: pki)
    let reader = ReceiptReader(trust: ReceiptTrust(exactly: [try pki.trustedRoot()]))
    guard let receipt = reader.read(data).receipt else { throw BenchmarkError("the receipt is not read") }
    let request = ComposerRequest(
      receipt: receipt, receiptData: String(decoding: data, as: UTF8.self), environment: .sandbox,
      date: NotificationSamples.start + .milliseconds(402))
    let transactions = periods.map {
      CustomerFacts.Transaction(Facts(stated: $0.payload(signedAt: NotificationSamples.start)))
    }
    let renewal = SimulatedRenewal(after: periods[count - 1])
    return (
      request,
      CustomerFacts(
        transactions: transactions,
        renewals: [
          CustomerFacts.Renewal(Facts(stated: renewal.payload(signedAt: nil)), statedAt: NotificationSamples.start)
        ])
    )
  }
}
