package import Database
package import Ledger
package import LegacyAnswers
import Purchases
import Receipts
import Time

/// What would be answered now from what is known, without asking anybody: for people who want to see why.
package struct ResponsePreview: Sendable {
  package let request: ComposerRequest
  /// Why what is known may not be all there is; empty when the ledger alone would answer.
  package let reasons: [StalenessReason]
  /// Who would answer if Apple could not be asked; nil for nobody: then the status is 21005.
  package let source: ResponseSource?
  private let customer: ResolvedCustomer

  /// Whether Apple knows no id of the receipt any more: then the answer is the receipt alone.
  package var isForgotten: Bool { facts.isForgotten }

  package init(
    _ request: ComposerRequest, of app: App, in session: borrowing Session
  ) throws(DatabaseError) {
    let scope = AppScope(app: app.id, environment: request.environment)
    let ids = request.receipt.originalTransactionIDs
    customer = ResolvedCustomer(
      try LedgerStore.knowledge(of: ids, app: app, environment: request.environment, in: session))
    let flow = try NotificationHealth.read(scope, at: request.date, in: session)
    reasons = Freshness.reasons(customer.evidence(for: request.receipt, flow, at: request.date), at: request.date)
    if reasons.isEmpty {
      source = .ledger
    } else {
      source = customer.endsUnheard(with: request.receipt, at: request.date) ? nil : .receipt
    }
    self.request = request
  }

  private var facts: CustomerFacts { customer.facts(for: request.receipt, at: request.date) }

  /// The answer, with what made each of its fields; whatever is missing in it.
  package func explained(by composer: ResponseComposer) -> ResponseComposer.Explained {
    composer.explain(request, facts)
  }
}
