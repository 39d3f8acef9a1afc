import JSON
import Operations
import Runtime
import Time

enum QuarantinePurge {
  static let command = Command(
    "purge", "Delete refused messages for good; without --yes only say how many.",
    discussion:
      "A message refused by mistake can only be replayed while it is kept: purge messages that you have looked at.",
    whenStopped: "Deleted messages are gone, the rest is kept. Run it again to continue.",
    examples: [
      Command.Example("switchyard quarantine purge --code badSignature --older-than 30d", "how many would go"),
      Command.Example("switchyard quarantine purge --code badSignature --older-than 30d --yes"),
    ],
    options: [
      QuarantineCommand.code,
      .value("older-than", "TIME", default: "30d", "Those received longer ago; 0: all."),
      .flag("yes", "Delete them."), JSONOutput.option,
    ]
  ) { arguments, terminal in
    let age = try arguments.duration("older-than", in: .seconds(0)...(.days(100_000))) ?? .days(30)
    let (now, code) = (WallClock.system.now(), arguments.value("code"))
    let before = now - age
    return try await DatabaseOptions(arguments).withLedger(terminal) { connection in
      let purge = PurgeQuarantine(receivedBefore: before, code: code)
      let isDry = !arguments.flag("yes")
      let count =
        isDry
        ? try await purge.plan(on: connection) : try await purge.apply(by: .ofCommand(), at: now, on: connection)
      return try say(count, isDry: isDry, arguments, terminal)
    }
  }

  private static func say(
    _ count: Int, isDry: Bool, _ arguments: ParsedArguments, _ terminal: Terminal
  ) throws -> ExitStatus {
    if arguments.wantsJSON {
      let summary: JSONObject = ["messages": .integer(Int64(count)), "dryRun": .bool(isDry)]
      try terminal.write(summary.notingStop)
    } else {
      try terminal.write(isDry ? "\(count) would be deleted; say --yes to delete them\n" : "\(count) deleted\n")
    }
    return .done
  }
}
