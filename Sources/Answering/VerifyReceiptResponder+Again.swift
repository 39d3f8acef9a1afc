package import Database
package import Ledger
package import LegacyAnswers
package import Purchases
package import Receipts
package import Time

extension VerifyReceiptResponder {
  /// Returns the current data about a receipt's customer, of purchases up to `date`; `nil` if it is too large.
  ///
  /// For repeating a comparison, without Apple's own verifyReceipt responses.
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

  package func composer(for app: App) -> ResponseComposer? {
    composers.composer(choosing: directory.current().answerReadings(of: app))
  }

  /// A number that changes with every stage change that this process has read.
  package var stagesMark: Int64 { directory.current().mark }

  package func app(_ id: App.ID) -> App? { directory.current().apps.first { $0.id == id } }

  package func app(named bundleID: String) -> App? { directory.current()[bundleID] }
}
