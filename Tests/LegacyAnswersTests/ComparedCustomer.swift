/// A simulated customer and one request about them, with what Apple answers.
struct ComparedCustomer: Sendable {
  private let sample: SimulatedCase
  /// Who it is, as the shadow names customers.
  private let name: Digest
  /// What Apple's answer gives access to, by `AccessSeen`.
  private let access: [String: String]
  /// What is kept of the comparison when the composer has no fault.
  private let sound: ComparisonTable.Outcome

  /// Customers of a production app, one request each: every second one sends an iOS 6 receipt if there is one.
  ///
  /// The shadow compares nobody whose receipt names no purchase. Left out, too, are customers for whom even a sound answer
  /// gives other access than Apple's, as after a consumable that was bought since the receipt: they stop an advance by
  /// themselves, whatever the fault.
  static func all(of count: Int, _ composer: ResponseComposer) throws -> [ComparedCustomer] {
    let seed: UInt64 = 11
    var world = SimulatedCases.world(customers: count, in: .production, seed: seed)
    world.advance(by: .days(365))
    _ = world.drainNotifications()
    let cases = SimulatedCases(world, in: .production, seed: seed)
    var customers: [ComparedCustomer] = []
    var names: Set<Digest> = []
    for (number, customer) in world.customers().enumerated() {
      var random = SplitMix64(seed: seed, part: number)
      let date = SimulatedCases.start + .days(Int64(random.number(in: 20..<365)))
      let samples = try cases.cases(of: customer, at: date, &random)
      guard let sample = number.isMultiple(of: 2) ? samples.last : samples.first,
        let compared = try ComparedCustomer(sample, composer), names.insert(compared.name).inserted
      else { continue }
      customers.append(compared)
    }
    return customers
  }

  /// Nil for a customer who is left out.
  private init?(_ sample: SimulatedCase, _ composer: ResponseComposer) throws {
    let ids = sample.request.receipt.originalTransactionIDs
    guard !ids.isEmpty, let composed = try ComposedSample(sample, composer) else { return nil }
    access = AccessSeen.access(in: sample.answer, at: sample.request.date)
    guard AccessSeen.access(in: composed.response, at: sample.request.date) == access else { return nil }
    let account = sample.facts.transactions.compactMap { $0.facts.text(.originalTransactionId) } + ids
    name = Digest.sha256(Array("customer \(account.min() ?? "")".utf8))
    sound = composed.compared.judgement
    self.sample = sample
  }

  struct Unreadable: Error {}

  /// The comparison of Apple's answer with that of a composer that may have a fault.
  func compared(by composer: ResponseComposer, in scope: AppScope) throws -> FaultyComparison {
    guard let composed = try ComposedSample(sample, composer) else { throw Unreadable() }
    let judgement = composed.compared.judgement
    let voice = ComparisonTable.SampleKey(
      scope: scope, window: sample.request.date, customer: name.bytes,
      receipt: Digest.sha256(Array(sample.request.receiptData.utf8)).bytes)
    return FaultyComparison(
      voice: voice, judgement: judgement,
      changesAccess: AccessSeen.access(in: composed.response, at: sample.request.date) != access,
      isFound: judgement != sound)
  }
}

/// A comparison of a faulty answer with Apple's, as the shadow keeps it.
struct FaultyComparison: Sendable {
  let voice: ComparisonTable.SampleKey
  let judgement: ComparisonTable.Outcome
  /// Whether the customer would have other access, by `AccessSeen` and not by the product's own judgement.
  let changesAccess: Bool
  /// Whether it differs from the comparison of a sound answer.
  let isFound: Bool
}
