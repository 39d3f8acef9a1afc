package import AppStore
package import Ledger
package import Purchases
import Wire

/// One customer's history and the statuses of their subscriptions, asked for and recorded page by page.
package struct HistoryLookUp: Sendable {
  /// What became of an answer that was handed over to be recorded.
  package enum Recorded: Sendable {
    /// In the inbox, with what it taught.
    case stored(Findings)
    /// Set aside: it could not be read, for the reason of this code.
    case refused(String)
    /// The ledger did not take it.
    case failed
  }

  /// Records an answer of Apple's; returns after commit.
  package typealias Record = @Sendable (_ body: [UInt8], App, Environment) async -> Recorded

  /// How a look-up ended.
  package enum Outcome: Sendable {
    case found(StoredHistory)
    /// Apple answered with success, and with nothing in it: it does so to a wrong bundle id, too.
    case empty(Environment)
    case failed(CallFailure)
    case refused(String)
    case notRecorded
  }

  let client: AppStoreClient
  let record: Record

  /// No customer has so many purchases: 20 a page.
  private static let pages = 5_000
  /// What Apple answers to a revision that it does not take any more.
  private static let staleRevision: Set<Int64> = [4_000_005, 4_000_014, 4_000_017]

  /// Looks up everything that Apple knows of the customer to whom `id` belongs.
  ///
  /// Every page that came is recorded, also of a look-up that fails afterwards.
  ///
  /// - Parameters:
  ///   - revision: where an earlier history of the same id ended.
  ///   - begin: asked before the first call is sent.
  func run(
    _ id: String, of access: SeedingAccess, along route: EnvironmentRoute, resumingAt revision: String?,
    _ priority: BudgetGate.Priority, if begin: AppStoreClient.Beginning? = nil
  ) async -> Outcome {
    do throws(CallFailure) {
      var (route, cursor, begin, priority) = (route, revision, begin, priority)
      var (originals, transactions, visited): (Set<String>, Set<String>, Set<String>) = ([], [], [])
      var hasSubscriptions = false
      for page in 1...Self.pages {
        let reply: Reply<HistoryResponse>
        do throws(CallFailure) {
          reply = try await client.send(
            .transactionHistory(of: id, revision: cursor), as: access.credentials, along: route, priority, if: begin)
        } catch {
          guard page == 1, cursor != nil, Self.staleRevision.contains(error.errorCode ?? 0) else { throw error }
          cursor = nil
          continue
        }
        route = EnvironmentRoute(known: reply.environment)
        begin = nil
        if priority == .bulk { priority = .begun }
        let environment = Environment(reply.environment)
        if !(reply.answer.signedTransactions ?? []).isEmpty {
          switch await record(reply.body, access.app, environment) {
          case .stored(let findings):
            originals.formUnion(findings.originalTransactionIDs)
            transactions.formUnion(findings.purchases.compactMap { $0.facts.text(.transactionId) })
            hasSubscriptions = hasSubscriptions || findings.purchases.contains(where: \.isOfSubscription)
          case .refused(let code): return .refused(code)
          case .failed: return .notRecorded
          }
        }
        let next = reply.answer.revision
        if reply.answer.hasMore == true {
          guard let next, visited.insert(next).inserted else { throw endless(reply.environment) }
          cursor = next
          continue
        }
        cursor = next ?? cursor
        if originals.isEmpty, revision == nil { return .empty(environment) }
        // What was decided about a renewal is in no history: who is asked about again is asked for it as well.
        if hasSubscriptions || revision != nil,
          let failed = try await statuses(of: id, access, reply.environment, priority)
        {
          return failed
        }
        // What is told since a revision does not name the id again: it was in the history before.
        return .found(
          StoredHistory(
            environment: environment, originalTransactionIDs: revision == nil ? originals : originals.union([id]),
            transactionIDs: transactions, revision: cursor))
      }
      throw endless(route.current ?? .production)
    } catch {
      return .failed(error)
    }
  }

  /// Records the statuses; nil when all is well.
  private func statuses(
    of id: String, _ access: SeedingAccess, _ environment: APIEnvironment, _ priority: BudgetGate.Priority
  ) async throws(CallFailure) -> Outcome? {
    let reply: Reply<StatusResponse>
    do throws(CallFailure) {
      reply = try await client.send(.subscriptionStatuses(of: id), as: access.credentials, in: environment, priority)
    } catch {
      // The history knows the id: whoever has no subscription has no status.
      guard error.code == .refused, error.status == 404 else { throw error }
      return nil
    }
    let items = (reply.answer.data ?? []).flatMap { $0.lastTransactions ?? [] }
    guard items.contains(where: { $0.signedTransactionInfo != nil || $0.signedRenewalInfo != nil }) else { return nil }
    switch await record(reply.body, access.app, Environment(environment)) {
    case .stored: return nil
    case .refused(let code): return .refused(code)
    case .failed: return .notRecorded
    }
  }

  private func endless(_ environment: APIEnvironment) -> CallFailure {
    var failure = CallFailure(.endlessPaging, .getTransactionHistory, "pages that lead to one another")
    failure.environment = environment
    return failure
  }
}

extension PurchaseStatement {
  /// Whether there is a status to ask for.
  fileprivate var isOfSubscription: Bool {
    facts.text(.type) == "Auto-Renewable Subscription" || facts.text(.subscriptionGroupIdentifier) != nil
  }
}
