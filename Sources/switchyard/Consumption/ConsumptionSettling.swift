import ConsumptionAnswers
import Database
import JSON
import Ledger
import Operations
import Runtime
import Service
import Time
import Wire

/// `switchyard consumption answer|decline`: responds to a request manually.
enum ConsumptionSettling {
  private static let fileLimit = 64 << 10
  private static let dryRun = Option.flag("dry-run", "Say what would be done and do nothing.")

  static let answer = Command(
    "answer", "Report to Apple how the purchase was used.",
    discussion: """
      FILE holds Apple's ConsumptionRequest as JSON; customerConsented must be true. A request that was declined or \
      refused can be answered while its 12 hours last. Exit status 7: Apple could not be asked now, or says later; `switchyard api check` shows a refused key.
      """,
    whenStopped: "The service repeats an answer that Apple may not have received, as does a second run.",
    examples: [Command.Example("switchyard consumption answer 2000000123456789 --file used.json --dry-run")],
    options: [
      .value("file", "FILE", "The answer to Apple."), dryRun, JSONOutput.option,
    ] + AppleClient.options + MasterKeyOptions.options, arguments: [ConsumptionCommand.id]
  ) { arguments, terminal in
    let file = try arguments.required("file")
    guard let object = try? JSONReader.read(Input.read(file, limit: fileLimit)).object else {
      throw SecretFileError(file: file, reason: "it holds no JSON object")
    }
    let problems = ConsumptionRequest(object).problems
    guard problems.isEmpty else {
      throw UsageError(
        .invalidValue, "Apple would not take it: \(problems.joined(separator: "; ")).", path: arguments.path)
    }
    let options = try DatabaseOptions(arguments)
    let hosts = try AppleClient.hosts(arguments)
    return try await options.withDatabase(terminal) { configuration in
      let connection = try await Connection.open(configuration)
      try await options.prepare(connection)
      let operation = AnswerConsumption(object, to: arguments.positionals[0])
      let request = try await operation.plan(at: WallClock.system.now(), on: connection)
      if arguments.flag(dryRun.name) {
        try say("would answer Apple", request, request.state, object, arguments, terminal)
        await connection.close()
        return .done
      }
      let keys = try await MasterKeyOptions(arguments, database: options).keys(for: connection, terminal)
      let pool = Pool(configuration)
      let asking = AppleClient(hosts, sharing: pool)
      let report = ConsumptionReport(client: asking.client, pool: pool, keys: keys)
      let outcome: Result<ConsumptionReport.Outcome, any Error>
      do {
        outcome = .success(
          try await operation.apply(request, with: report, by: .ofCommand(), clock: .system, on: connection))
      } catch { outcome = .failure(error) }
      await asking.end()
      await pool.close()
      await connection.close()
      switch try outcome.get() {
      case .taken:
        try say("Apple has it", request, .answered, object, arguments, terminal)
        return .done
      case .refused(let reason):
        try say("Apple refused it", request, .refused, object, because: reason, arguments, terminal)
        return .failed
      case .later(let reason):
        try say(
          "Apple did not get the answer; the service repeats it", request, .waiting, object, because: reason, arguments,
          terminal)
        return .externalLimit
      }
    }
  }

  static let decline = Command(
    "decline", "Send Apple no answer, and record the reason.",
    examples: [Command.Example("switchyard consumption decline 2000000123456789 --reason 'no consent'")],
    options: [.value("reason", "TEXT", "Why, for the record."), dryRun, JSONOutput.option],
    arguments: [ConsumptionCommand.id]
  ) { arguments, terminal in
    let reason = try arguments.required("reason")
    return try await DatabaseOptions(arguments).withLedger(terminal) { connection in
      let operation = DeclineConsumption(arguments.positionals[0])
      let (isDry, now) = (arguments.flag(dryRun.name), WallClock.system.now())
      let request = try await operation.plan(at: now, on: connection)
      if !isDry { try await operation.apply(request, by: .ofCommand(because: reason), at: now, on: connection) }
      try say(
        isDry ? "would decline" : "declined", request, isDry ? request.state : .declined, nil, because: reason,
        arguments, terminal)
      return .done
    }
  }

  private static func say(
    _ done: String, _ request: ConsumptionRequestRecord, _ state: ConsumptionRequestRecord.State, _ answer: JSONObject?,
    because reason: String? = nil, _ arguments: ParsedArguments, _ terminal: Terminal
  ) throws {
    if arguments.wantsJSON {
      try terminal.write([
        "transactionId": JSONValue(request.transactionID), "id": .string(request.id),
        "dryRun": .bool(arguments.flag(dryRun.name)), "state": .string(state.name),
        "answer": answer.map { .object($0) } ?? .null, "reason": JSONValue(reason),
      ])
    } else {
      try terminal.write("\(done): \(request.name)\n")
      if let reason { terminal.note(reason) }
    }
  }
}
