import Database
import JSON
import Ledger
import Runtime
import Synchronization

/// `switchyard db dump`: the ledger's content as text, so that two ledgers can be compared.
enum DatabaseDump {
  static let command = Command(
    "dump", "Print the ledger as JSON lines that depend only on the messages.",
    discussion: """
      No surrogate ids, arrival times, attempts or audit: two databases that ingested the same messages, in any \
      order, print the same.
      """,
    whenStopped: "The lines that were written are whole, and the dump is not. Nothing was changed; start it again.",
    examples: [
      Command.Example("switchyard db dump > before.jsonl"),
      Command.Example("switchyard db dump | sha256sum", "are two databases equal?"),
    ],
    options: [.retired("canonical")]
  ) { arguments, terminal in
    try await DatabaseOptions(arguments).withLedger(terminal) { connection in
      let written = Mutex(0)
      // If a large table keeps the dump from ending in time, this is printed anyway.
      CommandShutdown.current?.summarize { terminal.note("\(written.withLock { $0 }) lines written") }
      let failure = try await connection.read { session throws(DatabaseError) in
        try write(from: session, to: terminal) { lines in written.withLock { $0 += lines } }
      }
      if let failure { throw failure }
      return .done
    }
  }

  private static let page = 64 << 10

  private static func write(
    from session: Session, to terminal: Terminal, _ note: (Int) -> Void
  ) throws(DatabaseError) -> Terminal.OutputError? {
    var (pending, lines): ([UInt8], Int) = ([], 0)
    var failure: Terminal.OutputError?
    func flush() {
      guard failure == nil else { return }
      do throws(Terminal.OutputError) {
        try terminal.write(pending)
        note(lines)
      } catch {
        failure = error
      }
      pending.removeAll(keepingCapacity: true)
      lines = 0
    }
    do throws(DatabaseError) {
      try CanonicalDump.write(from: session) { line in
        guard failure == nil else { return }
        line.append(to: &pending)
        pending.append(UInt8(ascii: "\n"))
        lines += 1
        if pending.count >= page { flush() }
      }
    } catch {
      // The pending output also consists of whole lines.
      guard Task.isCancelled else { throw error }
    }
    flush()
    return failure
  }
}
