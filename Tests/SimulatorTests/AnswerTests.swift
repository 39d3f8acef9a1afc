import Adapter
import JSON
import Purchases
import Signing
import Simulator
import Testing
import Time
import Wire

@Suite struct `An answer of the simulated App Store Server API` {
  private static let monthly = Product.subscription("bench.monthly", group: "1", every: .months(1), price: 990)
  private let date = Bench.start + .days(60)

  private func life() -> SubscriptionLife {
    var ids = Bench.ids()
    let customer = Bench.customer(&ids)
    var life = SubscriptionLife(of: Self.monthly, by: customer, in: Bench.app, from: Bench.start, ids: ids)
    _ = life.begin()
    _ = life.renew()
    _ = life.renew()
    return life
  }

  private func answer() throws -> SimulatedAnswer {
    SimulatedAnswer(of: Bench.app, at: date, signer: try PayloadSigner(Bench.pki))
  }

  private func read(_ answer: JSONObject) throws -> Reading {
    let body = answer.encoded()
    return try Bench.adapter().evidence(
      body, app: Bench.app.bundleID, environment: nil, message: .sha256(body), now: date)
  }

  @Test func `about statuses is evidence of purchase and renewal`() throws {
    let reading = try read(answer().statuses([life().answer(at: date)]))
    #expect(reading.survey.isClean, "\(reading.survey)")
    #expect(reading.findings.purchases.count == 1)
    #expect(reading.findings.renewals.count == 1)
    #expect(reading.signedAt == date)
  }

  @Test func `about history is evidence of every period`() throws {
    let reading = try read(answer().history(life().periods))
    #expect(reading.survey.isClean, "\(reading.survey)")
    #expect(reading.findings.purchases.count == 3)
    #expect(Set(reading.findings.purchases.map(\.key.line)).count == 3)
    #expect(reading.findings.originalTransactionIDs == [life().current.originalTransactionID])
  }

  @Test func `about one transaction is evidence of it`() throws {
    let reading = try read(answer().transaction(life().current))
    #expect(reading.survey.isClean, "\(reading.survey)")
    #expect(reading.findings.purchases.first?.facts.text(.transactionId) == life().current.transactionID)
  }

  @Test func `tells an app transaction by its id`() throws {
    var ids = Bench.ids(9)
    let customer = Bench.customer(&ids)
    let download = SimulatedAppTransaction(app: Bench.app, customer: customer, downloadedAt: Bench.start)
    let jws = try PayloadSigner(Bench.pki).sign(download.payload(signedAt: date))
    let reading = try Bench.adapter().evidence(
      jws, app: Bench.app.bundleID, environment: nil, message: .sha256(jws), now: date)
    #expect(reading.survey.isClean, "\(reading.survey)")
    #expect(reading.findings.appTransactions.first?.key.appTransactionID == customer.appTransactionID)
  }
}
