import JSON
package import LegacyAnswers
import Time
import Wire

extension ResponsePair {
  /// The request as our answer is composed for it.
  package var answerRequest: ComposerRequest {
    // A status alone tells nothing of it; then nothing is composed either.
    let tells =
      ours["latest_receipt_info"] != nil || ours["latest_receipt"] != nil || ours["pending_renewal_info"] != nil
      || theirs["latest_receipt_info"] != nil || theirs["latest_receipt"] != nil
    return ComposerRequest(
      receipt: request.receipt, receiptData: request.receiptData, environment: request.environment,
      date: request.date, excludesOldTransactions: request.excludesOldTransactions, tellsSubscriptions: tells)
  }

  /// The pair with ours composed again, from the same facts or from others; as it is where ours is a status alone.
  package func recomposed(by composer: ResponseComposer, from facts: CustomerFacts? = nil) -> ResponsePair {
    guard ours["receipt"] != nil else { return self }
    let body = composer.answer(answerRequest, facts ?? self.facts)
    var limits = JSONLimits.standard
    limits.bytes = max(limits.bytes, body.count)
    guard let again = try? JSONReader.read(body, limits: limits).object else { return self }
    return with(ours: again)
  }
}
