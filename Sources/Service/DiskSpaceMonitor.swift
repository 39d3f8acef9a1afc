package import Ledger
package import Runtime
import Synchronization

/// Watches the disk of the database, so that the log names a full disk before the database fails.
///
/// Below the headroom, unverified messages and V1 messages of strangers are no longer stored. Below half of it, V1
/// messages that are not from Apple and verifyReceipt responses are not stored either. Below a quarter nothing is
/// written, and every sender receives 503 with the words "disk full". Apple resends for days.
package final class DiskSpaceMonitor: Service {
  package struct Settings: Sendable {
    /// Bytes that must stay free; 0 disables the check.
    package var headroom: UInt64
    /// Writable bytes at the database's location; `nil` if unknown.
    package var free: @Sendable () -> UInt64?

    package init(headroom: UInt64 = Self.standard, free: @escaping @Sendable () -> UInt64?) {
      self.headroom = headroom
      self.free = free
    }

    /// The size of a redo log and the messages of a day.
    package static let standard: UInt64 = 1 << 30
  }

  private let settings: Settings
  private let logger: Logger
  private let state: Mutex<(level: DiskSpaceLevel, free: UInt64?)>

  private static let period = Duration.seconds(1)

  package init(_ settings: Settings, logger: Logger) {
    self.settings = settings
    self.logger = logger
    let free = settings.free()
    let level = DiskSpaceLevel(free: free, headroom: settings.headroom)
    state = Mutex((level, free))
    if level != .ample { tell(level, free) }
  }

  /// The level at the last check, at most a second ago.
  package var level: DiskSpaceLevel { state.withLock { $0.level } }

  package var free: UInt64? { state.withLock { $0.free } }

  package var headroom: UInt64 { settings.headroom }

  package func run() async throws {
    while !Task.isCancelled {
      check()
      try? await Task.sleep(for: Self.period)
    }
  }

  package func check() {
    let free = settings.free()
    let level = DiskSpaceLevel(free: free, headroom: settings.headroom)
    let before = state.withLock { state in
      defer { state = (level, free) }
      return state.level
    }
    if level != before { tell(level, free) }
  }

  private func tell(_ level: DiskSpaceLevel, _ free: UInt64?) {
    let metadata: Logger.Metadata = [
      "freeBytes": "\(free.map { "\($0)" } ?? "unknown")", "headroomBytes": "\(settings.headroom)",
    ]
    switch level {
    case .ample: logger.notice("disk has space again: everything is kept", metadata: metadata)
    case .low:
      logger.warning(
        "disk below its headroom: unproven messages and strangers' claims are not kept", metadata: metadata)
    case .scarce:
      logger.error(
        "disk below half of its headroom: only what Apple signed or was asked for is stored", metadata: metadata)
    case .full: logger.error("disk full: nothing is stored, senders are answered 503", metadata: metadata)
    }
  }
}
