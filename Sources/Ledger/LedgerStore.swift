package import Database
package import Signing
import Synchronization
import Time

/// What is known, in MySQL: every accepted message, and what all of them together say.
package final class LedgerStore: Sendable {
  package let pool: Pool
  package let bodies: BodyVault
  /// Certificate headers that are in the database for sure; Apple uses a handful.
  let writtenHeaders = Mutex<Set<Digest>>([])

  /// When this process last noted that each app was heard of.
  let heard = Mutex<[LastNotificationTable.Key: Timestamp]>([:])

  /// What quarantine keeps, as it was a moment ago, with what this process has added since.
  struct Known {
    var usage: [QuarantineSource: QuarantineUsage]
    let readAt: ContinuousClock.Instant
  }

  let quarantined = Mutex<Known?>(nil)

  /// Messages of this process that nobody vouches for and that were set aside without being forwarded.
  let unforwarded = Mutex(0)

  /// Ids that only unsigned messages of this process name and that were not queued, because too many wait.
  let unqueuedIDs = Mutex(0)

  package init(pool: Pool, keys: Keyring) {
    self.pool = pool
    bodies = BodyVault(keys)
  }

  /// How many messages that nobody vouches for were not forwarded since this was last asked, because too many waited.
  package func takeUnforwarded() -> Int {
    unforwarded.withLock { count in
      defer { count = 0 }
      return count
    }
  }

  /// How many ids that only unsigned messages name were not queued since this was last asked, because too many waited.
  package func takeUnqueuedIDs() -> Int {
    unqueuedIDs.withLock { count in
      defer { count = 0 }
      return count
    }
  }
}
