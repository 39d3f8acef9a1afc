import Synchronization

/// A cache of verified chains, so that their P-384 signatures (0.9 ms) are verified once and not for each message.
///
/// Bounded; the least recently used is removed first. Threads that miss the same chain at the same time wait for one of
/// them to build it. A rejection is returned to the waiting threads and not stored.
final class ChainCache: Sendable {
  struct Key: Hashable, Sendable {
    let leaf: Digest
    let intermediate: Digest
    /// The trust store's number, because trust in one environment proves nothing about another.
    let store: Int
  }

  typealias Outcome = Result<CertificateChain, VerificationError>

  /// A chain under construction: the first holder of the lock builds it, and the others find it.
  private final class Flight: Sendable {
    let outcome = Mutex<Outcome?>(nil)
  }

  private enum Entry {
    case building(Flight)
    case built(CertificateChain, lastUse: UInt64)
  }

  private struct State {
    var entries: [Key: Entry] = [:]
    var uses: UInt64 = 0
    var builds = 0
  }

  private enum Found {
    case chain(CertificateChain)
    case flight(Flight)
  }

  private let capacity: Int
  private let state = Mutex(State())

  init(capacity: Int) { self.capacity = capacity }

  var counts: (kept: Int, built: Int) { state.withLock { ($0.entries.count, $0.builds) } }

  /// Returns the cached chain of `key`, or builds it with `build`.
  func chain(
    for key: Key, build: () throws(VerificationError) -> CertificateChain
  ) throws(VerificationError) -> CertificateChain {
    switch find(key) {
    case .chain(let chain): return chain
    case .flight(let flight):
      let outcome = flight.outcome.withLock { outcome in
        if let outcome { return outcome }
        let built: Outcome
        do throws(VerificationError) { built = .success(try build()) } catch { built = .failure(error) }
        outcome = built
        land(built, for: key)
        return built
      }
      return try outcome.get()
    }
  }

  private func find(_ key: Key) -> Found {
    state.withLock { state in
      state.uses += 1
      switch state.entries[key] {
      case .built(let chain, lastUse: _):
        state.entries[key] = .built(chain, lastUse: state.uses)
        return .chain(chain)
      case .building(let flight): return .flight(flight)
      case nil:
        let flight = Flight()
        state.entries[key] = .building(flight)
        return .flight(flight)
      }
    }
  }

  private func land(_ outcome: Outcome, for key: Key) {
    state.withLock { state in
      state.builds += 1
      switch outcome {
      case .failure: state.entries[key] = nil
      case .success(let chain):
        state.entries[key] = .built(chain, lastUse: state.uses)
        // Flights are temporary, at most one for each thread.
        let built = state.entries.compactMap { key, entry -> (key: Key, lastUse: UInt64)? in
          if case .built(_, let lastUse) = entry { (key, lastUse) } else { nil }
        }
        if built.count > capacity, let oldest = built.min(by: { $0.lastUse < $1.lastUse }) {
          state.entries[oldest.key] = nil
        }
      }
    }
  }
}
