import Ledger
import Runtime

struct MemoryCheck {
  let check: Check

  /// - Parameters:
  ///   - bufferPool: the largest part of its tables that the server holds in memory.
  ///   - ledger: data and indexes of all tables together.
  ///   - machine: the machine's memory for a private database; nil for an operator's own server.
  init(bufferPool: ByteSize, ledger: ByteSize, machine: ByteSize?) {
    let sizes = "the ledger has \(ledger), the database's buffer pool \(bufferPool)"
    guard ledger > bufferPool else {
      check = .ok("memory", sizes)
      return
    }
    let detail = "\(sizes): what does not fit is read from disk while messages wait"
    let wanted = Self.roomy(for: ledger)
    guard let machine else {
      check = .warn(
        "memory", detail,
        "set innodb_buffer_pool_size to \(wanted.exact) on the server, or as near to it as the server's memory allows")
      return
    }
    // The service, the system and the server's other memory need the rest.
    let most = ByteSize(machine.bytes / 2)
    check =
      wanted <= most
      ? .warn(
        "memory", detail,
        "stop what uses the database, then start it with --database-memory \(wanted.exact); this machine has \(machine)"
      )
      : .warn(
        "memory", detail,
        "this machine has \(machine), and the database can take half of it: --database-memory \(Self.whole(most).exact); for "
          + "all of it move to a machine with \(ByteSize(wanted.bytes * 2)), or to your own MySQL or MariaDB")
  }

  /// Returns a size with a quarter more than the ledger for growth: a power of two, or half as much again.
  private static func roomy(for ledger: ByteSize) -> ByteSize {
    var size = 64 << 20
    while size < ledger.bytes + ledger.bytes / 4 {
      // 64M, 96M, 128M, 192M, …
      size = size & (size - 1) == 0 ? size / 2 * 3 : size / 3 * 4
    }
    return ByteSize(size)
  }

  /// Rounds down to a size that can be typed.
  private static func whole(_ size: ByteSize) -> ByteSize {
    let unit = size.bytes >= 4 << 30 ? 1 << 30 : 64 << 20
    return ByteSize(max(unit, size.bytes / unit * unit))
  }
}
