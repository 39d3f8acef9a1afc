import Database
import JSON
import Ledger
import Mappings
import Operations
import Purchases
import Runtime
import Time

/// `switchyard explain`: all data about a purchase, with its sources.
enum ExplainCommand {
  static let command = Command(
    "explain", "Show the ledger's data about an id, and its sources.",
    discussion: """
      ID is any id that ever named a purchase: a transaction, original transaction, line item or app transaction id, an \
      account token, or a user id of the app's back end. The current state comes first; --sources adds each field with its \
      source, its date and the row of Mappings that decided, and the values of all other sources. Messages are given by \
      the beginning of their digest: `switchyard inbox show DIGEST --bodies` prints one. docs/internals/model.md explains the rules.
      """,
    examples: [
      Command.Example("switchyard explain com.example.app 2000000906235058"),
      Command.Example(
        "switchyard explain com.example.app 2000000906235058 --sources", "who said what, and what counts"),
      Command.Example("switchyard explain com.example.app 2000000906235058 --json", "all of it, for programs"),
      Command.Example(
        "switchyard explain com.example.app 2000000906235058 --limit 10", "the newest of a customer with many purchases"
      ),
    ],
    options: [
      .flag("sources", "Show each field, with the value of every source."),
      .value(
        "limit", "N",
        "Show the newest N purchases, events, accounts and transfers: 200 in text, all in JSON, unless given. Subscriptions are always shown."
      ), JSONOutput.option,
    ] + DatabaseOptions.options,
    arguments: [AppCommand.bundleID, Positional("ID", "Any id that ever named a purchase.")]
  ) { arguments, terminal in
    let (bundleID, id) = (arguments.positionals[0], arguments.positionals[1])
    guard (1...128).contains(id.utf8.count) else {
      throw UsageError(.invalidValue, "An id has 1 to 128 bytes.", path: arguments.path)
    }
    let now = WallClock.system.now()
    let asked = try arguments.integer("limit", in: 1...1_000_000)
    let limit = ExplanationLimit(count: asked ?? (arguments.wantsJSON ? nil : ExplanationLimit.forPeople))
    return try await DatabaseOptions(arguments).withLedger(terminal) { connection in
      let app = try await AppRecord.find(bundleID, connection).app
      let dossiers = try await connection.read { session throws(DatabaseError) in
        try LedgerStore.dossiers(of: id, app: app, extent: .customers, in: session)
      }
      guard !dossiers.isEmpty else { throw NothingKnown(app: bundleID, id: id) }
      for dossier in dossiers {
        let explanation = Explanation(dossier, app: bundleID, id: id, vocabulary: .embedded, now: now, limit: limit)
        if arguments.wantsJSON {
          try explanation.write(to: terminal)
        } else {
          try terminal.write(explanation.text(withSources: arguments.flag("sources"), for: terminal))
        }
      }
      if !arguments.wantsJSON, !arguments.flag("sources") {
        terminal.note("--sources shows who said what, and what counts")
      }
      return .done
    }
  }
}

struct NothingKnown: ExitStatusError, CustomStringConvertible {
  let app: String
  let id: String

  var exitStatus: ExitStatus { .failed }

  var description: String {
    """
    nothing of \(app) is known under \(id); it may be in quarantine (`switchyard quarantine list`), or of another app
    """
  }
}
