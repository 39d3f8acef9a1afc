package import Ledger
import Purchases
import Signing
import Synchronization
package import Time

/// What an answer is the answer to: the same for requests that get the same answer.
struct ResponseCacheKey: Hashable {
  let scope: AppScope
  /// Of the app's stage.
  let epoch: Int64
  /// Of the receipt in base64, mended.
  let receipt: Digest
  let excludesOldTransactions: Bool
  var tellsSubscriptions: Bool
  /// The readings that the app chose.
  let readings: [String]
}

/// The last answers, given again to clients that send the same receipt again and again.
///
/// For seconds alone, never beyond the moment at which a period ends, and not after news of the customer was committed by
/// this process; what another process commits is seen when the time is over. Bounded in answers and in bytes, the oldest go
/// first.
package final class ResponseCache: Sendable {
  private struct Kept {
    let reply: ComposedResponse
    let names: [Name]
    let givenUntil: Timestamp

    /// Of the memory that it takes, with what it is found by.
    var bytes: Int { reply.body.count + 512 + names.count * 256 }
  }

  private struct Name: Hashable {
    let scope: AppScope
    let node: CustomerNode
  }

  private struct State {
    var entries: [ResponseCacheKey: Kept] = [:]
    var keys: [Name: Set<ResponseCacheKey>] = [:]
    /// In the order in which they were kept; those before `oldest` are gone.
    var order: [ResponseCacheKey] = []
    var oldest = 0
    var bytes = 0
    /// How much news came, and which was the last of each customer: an answer that was begun before is not kept.
    var news: UInt64 = 0
    var lastNews: [Name: UInt64] = [:]
    /// Since when `lastNews` has all.
    var remembered: UInt64 = 0
  }

  private let state = Mutex(State())
  private let kept: Interval
  private let mostBytes: Int
  private let most: Int

  /// - Parameter kept: how long an answer is given again; nothing is kept for 0.
  package init(kept: Interval, mostBytes: Int = 64 << 20, most: Int = 20_000) {
    self.kept = kept
    self.mostBytes = mostBytes
    self.most = most
  }

  private static let newsRemembered = 20_000

  var isOn: Bool { kept > .milliseconds(0) }

  /// A mark of now: an answer from what is read afterwards may be kept unless news came since.
  var mark: UInt64 { state.withLock { $0.news } }

  func answer(to key: ResponseCacheKey, at now: Timestamp) -> ComposedResponse? {
    guard isOn else { return nil }
    return state.withLock { state in
      guard let entry = state.entries[key] else { return nil }
      guard now < entry.givenUntil else {
        Self.forget(key, &state)
        return nil
      }
      return entry.reply
    }
  }

  func keep(
    _ reply: ComposedResponse, to key: ResponseCacheKey, about names: Set<CustomerNode>, since mark: UInt64,
    changing next: Timestamp?, at now: Timestamp
  ) {
    guard isOn else { return }
    let until = min(now + kept, next ?? now + kept)
    let entry = Kept(
      reply: reply, names: names.map { Name(scope: key.scope, node: $0) }, givenUntil: until)
    guard entry.bytes <= mostBytes / 4 else { return }
    state.withLock { state in
      guard mark >= state.remembered, entry.names.allSatisfy({ state.lastNews[$0] ?? 0 <= mark }) else { return }
      Self.forget(key, &state)
      state.entries[key] = entry
      state.order.append(key)
      state.bytes += entry.bytes
      for name in entry.names { state.keys[name, default: []].insert(key) }
      func isOver(_ key: ResponseCacheKey) -> Bool { state.entries[key].map { $0.givenUntil <= now } ?? true }
      while state.oldest < state.order.count,
        state.bytes > mostBytes || state.entries.count > most || isOver(state.order[state.oldest])
      {
        Self.forget(state.order[state.oldest], &state)
        state.oldest += 1
      }
      // Those that were forgotten stand in the order until there are as many of them as of the others.
      if state.order.count > 2 * state.entries.count + 64 {
        var seen: Set<ResponseCacheKey> = []
        state.order = state.order.dropFirst(state.oldest).filter {
          state.entries[$0] != nil && seen.insert($0).inserted
        }
        state.oldest = 0
      }
    }
  }

  /// Forgets what was answered about customers of whom these nodes are members.
  func forget(_ nodes: Set<CustomerNode>, in scope: AppScope) {
    guard isOn, !nodes.isEmpty else { return }
    state.withLock { state in
      state.news &+= 1
      if state.lastNews.count > Self.newsRemembered {
        state.lastNews.removeAll()
        state.remembered = state.news
      }
      for node in nodes {
        let name = Name(scope: scope, node: node)
        state.lastNews[name] = state.news
        for key in state.keys[name] ?? [] { Self.forget(key, &state) }
      }
    }
  }

  /// Forgets what was answered about everybody of whom these messages tell.
  package func note(_ entries: [LedgerEntry]) {
    guard isOn else { return }
    for case .accepted(let accepted) in entries.map(\.content) {
      let findings = accepted.findings
      var nodes = Set(findings.links.flatMap { [$0.a, $0.b] })
      let ids =
        findings.purchases.map(\.key.originalTransactionID) + findings.renewals.map(\.key.originalTransactionID)
        + findings.events.compactMap(\.originalTransactionID)
      nodes.formUnion(ids.map(CustomerNode.originalTransactionID))
      forget(nodes, in: AppScope(app: accepted.app, environment: findings.environment))
    }
  }

  private static func forget(_ key: ResponseCacheKey, _ state: inout State) {
    guard let entry = state.entries.removeValue(forKey: key) else { return }
    state.bytes -= entry.bytes
    for name in entry.names {
      state.keys[name]?.remove(key)
      if state.keys[name]?.isEmpty == true { state.keys[name] = nil }
    }
  }
}
