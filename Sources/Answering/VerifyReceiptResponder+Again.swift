package import Database
package import Ledger
package import LegacyAnswers
package import Purchases
package import Receipts
package import Time

extension VerifyReceiptResponder {
  /// What is known by now of the customer of a receipt, of purchases up to `date`; nil where it is too much.
  ///
  /// For a comparison that is looked at again: without Apple's own answers of verifyReceipt.
  package func facts(
    of receipt: Receipt, app: App, environment: Environment, until date: Timestamp
  ) async throws(DatabaseError) -> CustomerFacts? {
    let ids = receipt.originalTransactionIDs
    let knowledge: CustomerStatements
    do throws(DatabaseError) {
      knowledge = try await pool.read { session throws(DatabaseError) in
        try LedgerStore.knowledge(of: ids, app: app, environment: environment, atMost: 5_000, in: session)
      }
    } catch {
      guard error.code == .tooLarge else { throw error }
      return nil
    }
    var facts = ResolvedCustomer(knowledge).facts
    facts.transactions.removeAll { $0.facts.date(.purchaseDate).map { $0 > date } ?? false }
    for place in facts.transactions.indices { facts.transactions[place].answered = nil }
    return facts
  }

  /// What composes answers for the app as it is set now.
  package func composer(for app: App) -> ResponseComposer? {
    composers.composer(choosing: directory.current().answerReadings(of: app))
  }

  /// A number that changes with every change of a stage that this process has heard of.
  package var stagesMark: Int64 { directory.current().mark }

  /// The app as it is registered now.
  package func app(_ id: App.ID) -> App? { directory.current().apps.first { $0.id == id } }

  /// The app of this bundle id as it is registered now.
  package func app(named bundleID: String) -> App? { directory.current()[bundleID] }
}
