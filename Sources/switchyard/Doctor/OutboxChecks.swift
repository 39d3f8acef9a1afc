import Database
import Ledger
import Purchases
import Time

struct OutboxChecks {
  let all: [Check]

  /// The largest wait of the oldest message; a restarted destination is back by then.
  private static let patience = Interval.minutes(15)
  /// The number of rejected messages that cannot be the fault of a single message.
  private static let manyFailing = 10

  init(_ session: Session, now: Timestamp) throws(DatabaseError) {
    let depths = try OutboxTable.depths(in: session)
    guard !depths.isEmpty else {
      all = []
      return
    }
    let apps = try AppTable.all(includingRemoved: true, in: session)
    let names = Dictionary(apps.map { ($0.id, $0.bundleID) }) { first, _ in first }
    all = try DestinationTable.all(in: session).flatMap { destination -> [Check] in
      guard let depth = depths[destination.id] else { return [] }
      let name = "\(names[destination.scope.app] ?? "") \(destination.scope.environment.rawValue)"
      return Self.checks(depth, of: name, at: now)
    }
  }

  static func checks(_ depth: OutboxDepth, of name: String, at now: Timestamp) -> [Check] {
    var checks: [Check] = []
    if depth.failing >= manyFailing {
      checks.append(
        .fail(
          "outbox",
          "\(depth.failing) messages or more were refused by the destination of \(name): \(depth.failure ?? "")",
          "fix the back end; `switchyard outbox list` shows its responses, and delivery is retried automatically"))
    } else if let oldest = depth.oldest, now - oldest > patience {
      checks.append(
        .warn(
          "outbox",
          "\(depth.waiting) messages wait for the destination of \(name), the oldest since \(oldest.iso8601)",
          "`switchyard outbox list` says what it answers"))
    }
    if depth.dead > 0 {
      checks.append(
        .warn(
          "outbox", "\(depth.dead) messages for the destination of \(name) were given up",
          "`switchyard outbox list --state dead` says why; `switchyard outbox replay` sends them again"))
    }
    return checks
  }
}
