import Synchronization

/// A rate for each address, as many threads use it.
package final class AddressRateLimiter: Sendable {
  private let rates: Mutex<AddressRateTable>

  package init(_ rate: Rate) { rates = Mutex(AddressRateTable(rate, at: .now())) }

  /// Returns whether the address may, and counts it.
  package func take(_ peer: PeerAddress) -> Bool { rates.withLock { $0.take(peer, at: .now()) } }

  /// The same for something else that has a name, an app.
  package func take(_ name: String) -> Bool { rates.withLock { $0.take(Array(name.utf8), at: .now()) } }
}
