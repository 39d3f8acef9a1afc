/// A composer's response about a simulated customer, compared with the simulator's as the shadow compares it.
struct ComposedSample {
  let body: [UInt8]
  let response: JSONObject
  let compared: ComparisonResult

  /// `nil` if the response is not a JSON object.
  init?(_ sample: SimulatedCase, _ composer: ResponseComposer) throws {
    let request = sample.request
    var limits = JSONLimits.standard
    limits.bytes = 16 << 20
    body = composer.answer(request, sample.facts)
    guard let response = try JSONReader.read(body, limits: limits).object else { return nil }
    self.response = response
    let pair = ResponsePair(
      request: ResponsePair.Request(
        receipt: request.receipt, receiptData: request.receiptData, environment: request.environment,
        excludesOldTransactions: request.excludesOldTransactions, date: request.date),
      theirs: sample.answer, ours: response, facts: sample.facts,
      account: Set(sample.facts.transactions.compactMap { $0.facts.text(.originalTransactionId) }), isFresh: true)
    compared = ResponseComparator(composer).compare(pair)
  }
}
