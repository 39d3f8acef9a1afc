package import Database
package import Signing
import Synchronization
import Time

/// The ledger in MySQL: every accepted message, and the data derived from them.
package final class LedgerStore: Sendable {
  package let pool: Pool
  package let bodies: BodyVault
  /// The certificate headers that the database certainly has.
  ///
  /// Apple uses a handful.
  let writtenHeaders = Mutex<Set<Digest>>([])

  /// The last time that this process stored each app's last notification.
  let heard = Mutex<[LastNotificationTable.Key: Timestamp]>([:])

  /// A recent quarantine usage, with this process's own additions.
  struct Known {
    var usage: [QuarantineSource: QuarantineUsage]
    let readAt: ContinuousClock.Instant
  }

  let quarantined = Mutex<Known?>(nil)

  /// The number of this process's unverified messages that were quarantined without being forwarded.
  let unforwarded = Mutex(0)

  /// The number of unsigned messages' IDs that were not queued because too many wait.
  let unqueuedIDs = Mutex(0)

  package init(pool: Pool, keys: Keyring) {
    self.pool = pool
    bodies = BodyVault(keys)
  }

  /// Returns the number of unverified messages not forwarded since the last call because too many waited.
  package func takeUnforwarded() -> Int {
    unforwarded.withLock { count in
      defer { count = 0 }
      return count
    }
  }

  /// Returns the number of unsigned messages' IDs not queued since the last call because too many waited.
  package func takeUnqueuedIDs() -> Int {
    unqueuedIDs.withLock { count in
      defer { count = 0 }
      return count
    }
  }
}
