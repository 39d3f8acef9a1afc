import JSON
import Ledger
import Mappings
import Purchases
import Runtime
import Seeding
import Time

/// The part of an evidence request that waits for Apple: the history of whoever the evidence is about.
struct HistoryWait: Sendable {
  struct Unusable: Error {}

  /// Seconds; an app that restores purchases shows a spinner meanwhile.
  static let longest: Int64 = 30
  /// Ids of one request that are waited for; the others are looked up later.
  private static let idsAtOnce = 20

  /// Nil: Apple is asked nothing by itself.
  let seeding: Seeding?
  let lookUps: LookUps
  let clock: WallClock
  let logger: Logger

  /// How long to wait; not at all when nothing is said.
  static func limit(_ text: String?) throws(Unusable) -> Interval {
    guard let text else { return .milliseconds(0) }
    guard let seconds = Int64(text), (0...longest).contains(seconds) else { throw Unusable() }
    return .seconds(seconds)
  }

  /// Asks Apple about the customer and adds what is known then; whatever happens, the evidence itself is stored.
  func add(to answer: inout JSONObject, _ findings: Findings, app: App, within limit: Interval) async {
    let ids = Array(
      (findings.seeds.map(\.transactionID) + findings.originalTransactionIDs).uniqued.prefix(Self.idsAtOnce))
    guard !ids.isEmpty else {
      answer["history"] = .string("nothingToAskBy")
      return
    }
    do {
      let states = try await seeding?.lookUp(ids, of: app, in: findings.environment, within: limit)
      answer["history"] = .string(Self.word(for: states))
      if states?.values.contains(.waiting) == true, let pause = seeding?.pause(of: app, in: findings.environment) {
        answer["historyPause"] = ["reason": .string(pause.reason), "until": .integer(pause.until.sinceEpoch)]
      }
      var results: [JSONValue] = []
      var told: Set<String> = []
      var members: Set<CustomerNode> = []
      let document = Document(vocabulary: .embedded, now: clock.now(), showsProvenance: false)
      // Several ids may be of one customer, who is told of once.
      for id in ids where !members.contains(.originalTransactionID(id)) {
        let request = LookUps.Request(id: id, app: app, extent: .customers)
        guard let answer = try await lookUps.answer(request, document) else { continue }
        for var result in answer.results {
          let customer = "\(result.environment.rawValue) \(result.customers.keys.sorted())"
          guard told.insert(customer).inserted else { continue }
          members.formUnion(result.customers.values.joined())
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

  /// `done` when Apple has told everything; else what is missing.
  private static func word(for states: [String: WorkTable.State]?) -> String {
    guard let states else { return "noCredentials" }
    for state in [WorkTable.State.waiting, .failed, .unknown] where states.values.contains(state) { return state.name }
    return WorkTable.State.done.name
  }
}

extension [String] {
  /// Each once, where it was first.
  fileprivate var uniqued: [String] {
    var seen: Set<String> = []
    return filter { seen.insert($0).inserted }
  }
}
