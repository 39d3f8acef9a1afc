package import AppStore
package import Ledger
package import Purchases
import Wire

/// One customer's history and the statuses of their subscriptions, asked for and recorded page by page.
///
/// While a page is being recorded the next call is on its way; no page is handed over to be recorded before the one
/// before it is.
package struct HistoryFetch: Sendable {
  /// Reads an answer of Apple's.
  package typealias Read = @Sendable (_ body: [UInt8], App, Environment) -> DecodedAPIResponse

  /// How a look-up ended.
  package enum Outcome: Sendable {
    case found(StoredHistory)
    /// Apple answered with success, and with nothing in it: it does so to a wrong bundle id, too.
    case empty(Environment)
    case failed(APIError)
    case refused(String)
    case notRecorded
  }

  let client: AppStoreClient
  let read: Read
  let room: AsyncByteSemaphore

  /// No customer has so many purchases: 20 a page.
  private static let pages = 5_000
  /// For one look-up at a time.
  private static let roomOfOne = 16 << 20
  /// What Apple answers to a revision that it does not take any more.
  private static let staleRevision: Set<Int64> = [4_000_005, 4_000_014, 4_000_017]

  init(client: AppStoreClient, read: @escaping Read, room: AsyncByteSemaphore) {
    self.client = client
    self.read = read
    self.room = room
  }

  /// Creates a look-up for a caller that waits for it.
  package init(client: AppStoreClient, read: @escaping Read) {
    self.init(client: client, read: read, room: AsyncByteSemaphore(bytes: Self.roomOfOne))
  }

  /// Looks up the whole history of the customer to whom `id` belongs and the statuses of their subscriptions, now and in
  /// one environment, and records both.
  package func run(_ id: String, of access: AppleAccess, in environment: APIEnvironment) async -> Outcome {
    await run(id, of: access, along: EnvironmentSearch(known: environment), resumingAt: nil, .interactive)
  }

  /// Looks up everything that Apple knows of the customer to whom `id` belongs.
  ///
  /// Pages are recorded as they come, also of a look-up that fails afterwards. Whatever Apple said then: when one could not
  /// be recorded, that is how it ended.
  ///
  /// - Parameters:
  ///   - revision: where an earlier history of the same id ended.
  ///   - begin: asked before the first call is sent.
  func run(
    _ id: String, of access: AppleAccess, along route: EnvironmentSearch, resumingAt revision: String?,
    _ priority: RateLimiter.Priority, if begin: AppStoreClient.Beginning? = nil
  ) async -> Outcome {
    await withTaskGroup(of: Bool.self) { recordings in
      var outcome: Outcome
      do throws(APIError) {
        outcome = try await walk(
          id, access, along: route, resumingAt: revision, priority, if: begin, recording: &recordings)
      } catch {
        outcome = .failed(error)
      }
      for await isRecorded in recordings where !isRecorded { outcome = .notRecorded }
      return outcome
    }
  }

  /// Asks page by page and for the statuses; what is found is true when all of `recordings` are.
  private func walk(
    _ id: String, _ access: AppleAccess, along route: EnvironmentSearch, resumingAt revision: String?,
    _ priority: RateLimiter.Priority, if begin: AppStoreClient.Beginning?, recording recordings: inout TaskGroup<Bool>
  ) async throws(APIError) -> Outcome {
    var (route, cursor, begin, priority) = (route, revision, begin, priority)
    var (originals, transactions, visited): (Set<String>, Set<String>, Set<String>) = ([], [], [])
    var hasSubscriptions = false
    for page in 1...Self.pages {
      let reply: APIResponse<HistoryResponse>
      do throws(APIError) {
        reply = try await client.send(
          .transactionHistory(of: id, revision: cursor), as: access.credentials, along: route, priority, if: begin)
      } catch {
        guard page == 1, cursor != nil, Self.staleRevision.contains(error.errorCode ?? 0) else { throw error }
        cursor = nil
        continue
      }
      route = EnvironmentSearch(known: reply.environment)
      begin = nil
      if priority == .bulk { priority = .begun }
      let environment = Environment(reply.environment)
      if !(reply.answer.signedTransactions ?? []).isEmpty {
        guard await recordings.next() ?? true else { return .notRecorded }
        switch await take(reply.body, access.app, environment, priority, recording: &recordings) {
        case .findings(let findings):
          originals.formUnion(findings.originalTransactionIDs)
          transactions.formUnion(findings.purchases.compactMap { $0.facts.text(.transactionId) })
          hasSubscriptions = hasSubscriptions || findings.purchases.contains(where: \.isOfSubscription)
        case .refused(let code): return .refused(code)
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
      var checks: [RenewalCheck] = []
      if hasSubscriptions || revision != nil {
        switch try await statuses(of: id, access, reply.environment, priority, recording: &recordings) {
        case .told(let renewalChecks): checks = renewalChecks
        case .refused(let code): return .refused(code)
        }
      }
      // What is told since a revision does not name the id again: it was in the history before.
      return .found(
        StoredHistory(
          environment: environment, originalTransactionIDs: revision == nil ? originals : originals.union([id]),
          transactionIDs: transactions, revision: cursor, renewalChecks: checks))
    }
    throw endless(route.current ?? .production)
  }

  private enum Statuses {
    /// When the subscriptions are asked about next.
    case told([RenewalCheck])
    case refused(String)
  }

  /// Has the statuses recorded.
  private func statuses(
    of id: String, _ access: AppleAccess, _ environment: APIEnvironment, _ priority: RateLimiter.Priority,
    recording recordings: inout TaskGroup<Bool>
  ) async throws(APIError) -> Statuses {
    let reply: APIResponse<StatusResponse>
    do throws(APIError) {
      reply = try await client.send(.subscriptionStatuses(of: id), as: access.credentials, in: environment, priority)
    } catch {
      // The history knows the id: whoever has no subscription has no status.
      guard error.code == .refused, error.status == 404 else { throw error }
      return .told([])
    }
    let items = (reply.answer.data ?? []).flatMap { $0.lastTransactions ?? [] }
    guard items.contains(where: { $0.signedTransactionInfo != nil || $0.signedRenewalInfo != nil }) else {
      return .told([])
    }
    switch await take(reply.body, access.app, Environment(environment), priority, recording: &recordings) {
    case .findings(let findings): return .told(RenewalCheck.all(in: findings, at: reply.receivedAt))
    case .refused(let code): return .refused(code)
    }
  }

  /// Reads an answer and begins to record it; in bulk when there is room for it.
  private func take(
    _ body: [UInt8], _ app: App, _ environment: Environment, _ priority: RateLimiter.Priority,
    recording recordings: inout TaskGroup<Bool>
  ) async -> DecodedAPIResponse.Content {
    // Somebody waits for it: not behind bulk, whose room is half of what the group commit takes.
    let size = priority == .interactive ? 0 : body.count
    if size > 0 { await room.enter(size) }
    let answer = read(body, app, environment)
    recordings.addTask {
      defer { if size > 0 { room.leave(size) } }
      return await answer.record()
    }
    return answer.content
  }

  private func endless(_ environment: APIEnvironment) -> APIError {
    var failure = APIError(.endlessPaging, .getTransactionHistory, "pages that lead to one another")
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
