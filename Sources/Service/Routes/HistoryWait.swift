import JSON
import Ledger
import Mappings
import Purchases
import Runtime
import Seeding
import Time

/// Waits for Apple's history of an evidence request's customer.
struct HistoryWait: Sendable {
  struct Unusable: Error {}

  /// Seconds; an app that restores purchases shows a spinner meanwhile.
  static let longest: Int64 = 30
  /// IDs of one request to wait for; the others are looked up later.
  private static let idsAtOnce = 20

  /// `nil` disables lookups at Apple.
  let seeding: HistoryJobWorker?
  let ledger: LedgerStore
  let lookUps: PurchaseLookup
  let clock: WallClock
  let logger: Logger

  static func limit(_ text: String?) throws(Unusable) -> Interval {
    guard let text else { return .milliseconds(0) }
    guard let seconds = Int64(text), (0...longest).contains(seconds) else { throw Unusable() }
    return .seconds(seconds)
  }

  /// Asks Apple about the customer and adds the resulting data.
  ///
  /// The evidence is stored regardless of errors here.
  func add(to answer: inout JSONObject, _ findings: Findings, app: App, within limit: Interval) async {
    // A client can put any customer's ID into an unsigned response, so such IDs come last and are marked as claims.
    // Of the unproven IDs, it waits only for those that are looked up.
    let claimed = findings.claimedIDs
    let told = findings.unverifiedSeeds.map(\.transactionID)
    let unverified = claimed.union(told).subtracting(findings.unplacedOriginals)
    let named = (findings.seeds.map(\.transactionID) + findings.originalTransactionIDs).uniqued
    let others = (told + named.filter(unverified.contains)).uniqued.prefix(HistoryJobTable.mostUnverifiedOfMessage)
    let ids = Array((named.filter { !unverified.contains($0) } + others).prefix(Self.idsAtOnce))
    guard !ids.isEmpty else {
      answer["history"] = .string("nothingToAskBy")
      return
    }
    do {
      var states: [HistoryJobTable.State]?
      for environment in try await environments(of: findings, ids, app) {
        guard let found = try await lookUp(ids, unverified, app, environment, within: limit) else { continue }
        states = (states ?? []) + found
        if found.contains(.waiting), let pause = seeding?.pause(of: app, in: environment) {
          answer["historyPause"] = ["reason": .string(pause.reason), "until": .integer(pause.until.sinceEpoch)]
        }
      }
      answer["history"] = .string(Self.word(for: states))
      var results: [JSONValue] = []
      var told: Set<String> = []
      var members: Set<CustomerNode> = []
      let document = PurchaseDocument(vocabulary: .embedded, now: clock.now(), showsProvenance: false)
      // Several IDs may be of one customer, which is reported once.
      for id in ids where !members.contains(.originalTransactionID(id)) {
        let request = PurchaseLookup.Request(id: id, app: app, extent: .customers)
        guard let answer = try await lookUps.answer(request, document) else { continue }
        for var result in answer.results {
          let customer = "\(result.environment.rawValue) \(result.customers.keys.sorted())"
          guard told.insert(customer).inserted else { continue }
          members.formUnion(result.customers.values.joined())
          if claimed.contains(id) { result.object["unconfirmed"] = true }
          if let next = answer.next {
            result.object["id"] = .string(id)
            result.object["next"] = .string(next)
          }
          results.append(.object(result.object))
        }
      }
      answer["results"] = .array(results)
    } catch {
      logger.warning("a history was not waited for", metadata: ["app": "\(app.bundleID)", "error": "\(error)"])
      answer["history"] = .string("unavailable")
    }
  }

  /// Returns the states of the IDs after the request; `unverified` ones separately, unless the ledger has better data.
  ///
  /// If others are looked up, the wait is only for those.
  private func lookUp(
    _ ids: [String], _ unverified: Set<String>, _ app: App, _ environment: Environment, within limit: Interval
  ) async throws -> [HistoryJobTable.State]? {
    guard let seeding else { return nil }
    let (unproven, haveRoom) = try await ledger.unproven(unverified.intersection(ids), of: app.id, in: environment)
    let proven = ids.filter { !unproven.contains($0) }
    if !proven.isEmpty {
      return try await seeding.lookUp(proven, of: app, in: environment, within: limit).map { Array($0.values) }
    }
    guard haveRoom else { return ids.map { _ in .waiting } }
    return try await seeding.lookUp(ids, of: app, in: environment, .unverified, within: limit).map { Array($0.values) }
  }

  /// Returns the first environment to ask: the evidence's.
  ///
  /// For a bare ID it is the one in the ledger, otherwise Production.
  private func environments(of findings: Findings, _ ids: [String], _ app: App) async throws -> [Environment] {
    guard findings.seeds.contains(where: { $0.environment == nil }) else { return [findings.environment] }
    let known = try await ledger.environments(of: Set(ids), app: app.id)
    let environments = known.values.reduce(into: Set<Environment>()) { $0.formUnion($1) }
    return environments.isEmpty ? [.production] : environments.sorted()
  }

  /// Returns `done` if Apple returned everything; otherwise the missing part.
  private static func word(for states: [HistoryJobTable.State]?) -> String {
    guard let states else { return "noCredentials" }
    for state in [HistoryJobTable.State.waiting, .failed, .unknown] where states.contains(state) { return state.name }
    return HistoryJobTable.State.done.name
  }
}

extension [String] {
  fileprivate var uniqued: [String] {
    var seen: Set<String> = []
    return filter { seen.insert($0).inserted }
  }
}
