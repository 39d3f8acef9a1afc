package import Database
package import Ledger
package import LegacyAnswers
import Purchases
import Receipts
import Time

/// The response that the ledger would give now without any request to Apple, for people.
package struct ResponsePreview: Sendable {
  package let request: ComposerRequest
  /// The reasons why the data may be incomplete; empty if the ledger would respond without Apple.
  package let reasons: [StalenessReason]
  /// The source if Apple could not be asked; `nil` means status 21005.
  package let source: ResponseSource?
  private let customer: ResolvedCustomer

  /// Whether Apple no longer knows any ID of the receipt, so that only the receipt makes the response.
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

  /// Returns the response with the source of each field, even if data is missing.
  package func explained(by composer: ResponseComposer) -> ResponseComposer.Explained {
    composer.explain(request, facts)
  }
}
