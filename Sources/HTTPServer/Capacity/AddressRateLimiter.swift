import Synchronization

/// A thread-safe rate for each address.
package final class AddressRateLimiter: Sendable {
  private let rates: Mutex<AddressRateTable>

  package init(_ rate: Rate) { rates = Mutex(AddressRateTable(rate, at: .now())) }

  package func take(_ peer: PeerAddress) -> Bool { rates.withLock { $0.take(peer, at: .now()) } }

  /// Returns whether a name, such as an app's, is below its rate, and counts it.
  package func take(_ name: String) -> Bool { rates.withLock { $0.take(Array(name.utf8), at: .now()) } }
}
