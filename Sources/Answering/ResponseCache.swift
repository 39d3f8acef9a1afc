package import Ledger
import Purchases
import Signing
import Synchronization
package import Time

/// The identity of a response: equal for requests with the same response.
struct ResponseCacheKey: Hashable {
  let scope: AppScope
  let epoch: Int64
  /// The digest of the repaired base64 receipt.
  let receipt: Digest
  let excludesOldTransactions: Bool
  var tellsSubscriptions: Bool
  let readings: [String]
}

/// The last responses, for clients that send the same receipt repeatedly.
///
/// An entry lasts only seconds, never beyond the end of a period, and not after this process commits a message about
/// the customer. Other processes' commits take effect when it expires. Bounded in entries and bytes, oldest removed
/// first.
package final class ResponseCache: Sendable {
  private struct Kept {
    let reply: ComposedResponse
    let names: [Name]
    let givenUntil: Timestamp

    /// The approximate memory of the entry and its keys.
    var bytes: Int { reply.body.count + 512 + names.count * 256 }
  }

  private struct Name: Hashable {
    let scope: AppScope
    let node: CustomerNode
  }

  private struct State {
    var entries: [ResponseCacheKey: Kept] = [:]
    var keys: [Name: Set<ResponseCacheKey>] = [:]
    /// The keys in order of insertion; those before `oldest` are removed.
    var order: [ResponseCacheKey] = []
    var oldest = 0
    var bytes = 0
    /// The number of messages, and the last one of each customer: a response begun before it is not stored.
    var news: UInt64 = 0
    var lastNews: [Name: UInt64] = [:]
    /// The number since which `lastNews` is complete.
    var remembered: UInt64 = 0
  }

  private let state = Mutex(State())
  private let kept: Interval
  private let mostBytes: Int
  private let most: Int

  /// - Parameter kept: how long an entry lasts; 0 disables the cache.
  package init(kept: Interval, mostBytes: Int = 64 << 20, most: Int = 20_000) {
    self.kept = kept
    self.mostBytes = mostBytes
    self.most = most
  }

  private static let newsRemembered = 20_000

  var isOn: Bool { kept > .milliseconds(0) }

  /// The current mark: a response from data read after it may be stored unless a message arrived since.
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
      // Removed keys stay in the order until they are as many as the others.
      if state.order.count > 2 * state.entries.count + 64 {
        var seen: Set<ResponseCacheKey> = []
        state.order = state.order.dropFirst(state.oldest).filter {
          state.entries[$0] != nil && seen.insert($0).inserted
        }
        state.oldest = 0
      }
    }
  }

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
