import Database
import Ledger
import Runtime
import Time

/// Checks of the database server: version, memory, and the settings that make a commit durable before the response.
struct DatabaseChecks {
  let all: [Check]

  /// The largest body that a sender can post, with space for its row; Apple's pages of 20 transactions are far smaller.
  private static let leastPacket = 9 << 20

  /// - Parameter isPrivate: whether this is the private server on this machine.
  init(_ session: Session, at address: String, isPrivate: Bool, _ clock: WallClock) throws(DatabaseError) {
    let before = clock.now()
    let facts = try DatabaseStatistics(from: session)
    let after = clock.now()
    let ledger = try DatabaseStatistics.tables(in: session).reduce(0) { $0 + $1.bytes }
    all = [
      Self.version(facts.version, address), Self.durability(facts), Self.packet(facts.maximumPacket),
      MemoryCheck(
        bufferPool: ByteSize(Int(facts.bufferPool)), ledger: ByteSize(Int(ledger)),
        machine: isPrivate ? ByteSize(MachineMemory().bytes) : nil
      ).check,
      Self.clock(facts.now, before, after),
    ]
  }

  private static func version(_ version: String, _ address: String) -> Check {
    let numbers = version.split { !$0.isNumber }.prefix(2).compactMap { Int($0) }
    let least = version.contains("MariaDB") ? [10, 6] : [8, 0]
    guard numbers.count == 2, !numbers.lexicographicallyPrecedes(least) else {
      return .fail("database", "\(version) at \(address)", "MySQL 8 or MariaDB 10.6 are the oldest that do")
    }
    return .ok("database", "\(version) at \(address)")
  }

  private static func durability(_ facts: DatabaseStatistics) -> Check {
    if facts.isReadOnly {
      return .fail("durability", "the server is read-only", "name the primary in --database")
    }
    guard facts.flushLogAtCommit == 1 else {
      return .fail(
        "durability", "innodb_flush_log_at_trx_commit is \(facts.flushLogAtCommit): an answered message can be lost",
        "set it to 1")
    }
    if let sync = facts.syncBinaryLog, sync != 1 {
      return .warn("durability", "sync_binlog is \(sync): a replica can miss what was answered", "set it to 1")
    }
    return .ok("durability", "every commit is on disk before it is answered")
  }

  private static func packet(_ bytes: Int) -> Check {
    let text = "max_allowed_packet is \(bytes >> 20) MiB"
    if bytes < leastPacket { return .fail("packets", text, "set it to 64M: large messages cannot be stored") }
    return .ok("packets", text)
  }

  private static func clock(_ theirs: Timestamp, _ before: Timestamp, _ after: Timestamp) -> Check {
    let offset =
      theirs < before ? before - theirs : theirs > after ? theirs - after : .milliseconds(0)
    let text = "\(offset.milliseconds) ms from the database's"
    if offset > .seconds(30) { return .fail("clock", text, "set both by NTP: data without a date is judged by it") }
    return offset > .seconds(1) ? .warn("clock", text, "set both by NTP") : .ok("clock", text)
  }
}
