import Database
import JSON
import Ledger
import Runtime
import Service
import Signing
import Time
import Wire

/// `switchyard consumption answer|decline`: settles a request by hand.
enum ConsumptionSettling {
  private static let lease = Interval.minutes(5)
  private static let fileLimit = 64 << 10
  private static let dryRun = Option.flag("dry-run", "Say what would be done and do nothing.")

  static let answer = Command(
    "answer", "Tell Apple how the purchase was used.",
    discussion: """
      FILE holds Apple's ConsumptionRequest as JSON; customerConsented must be true. A request that was declined or \
      refused can be answered while its 12 hours last. Exit status 7: Apple could not be told now.
      """,
    whenStopped: "An answer that Apple may not have got is told again by the service, or when you run it again.",
    examples: [Command.Example("switchyard consumption answer 2000000123456789 --file used.json --dry-run")],
    options: [
      .value("file", "FILE", "What Apple is told."), dryRun, JSONOutput.option,
    ] + AskingApple.options + MasterKeyOptions.options, arguments: [ConsumptionCommand.id]
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
    let hosts = try AskingApple.hosts(arguments)
    return try await options.withDatabase(terminal) { configuration in
      let connection = try await Connection.open(configuration)
      try await options.prepare(connection)
      let request = try await open(arguments.positionals[0], connection)
      if arguments.flag(dryRun.name) {
        try say("would tell Apple", request, request.state, object, arguments, terminal)
        await connection.close()
        return .done
      }
      let keys = try MasterKeyOptions(arguments, database: options).load(hasSealed: true) { terminal.note($0) }
      let pool = Pool(configuration)
      let asking = AskingApple(hosts, sharing: pool)
      let report = ConsumptionReport(client: asking.client, pool: pool, keys: keys)
      let outcome: Result<ConsumptionReport.Outcome, any Error>
      do {
        outcome = .success(try await tell(object, about: request, report, connection))
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
          "Apple was not told, the service goes on with it", request, .waiting, object, because: reason, arguments,
          terminal)
        return .externalLimit
      }
    }
  }

  static let decline = Command(
    "decline", "Tell Apple nothing, and write down why.",
    examples: [Command.Example("switchyard consumption decline 2000000123456789 --reason 'no consent'")],
    options: [.value("reason", "TEXT", "Why, for the record."), dryRun, JSONOutput.option],
    arguments: [ConsumptionCommand.id]
  ) { arguments, terminal in
    let reason = try arguments.required("reason")
    return try await DatabaseOptions(arguments).withLedger(terminal) { connection in
      let request = try await open(arguments.positionals[0], connection)
      let isDry = arguments.flag(dryRun.name)
      if !isDry {
        let leased = try await take(request, "consumption.decline", reason, connection)
        let now = WallClock.system.now()
        try await connection.transaction { session throws(DatabaseError) in
          try ConsumptionTable.settle(leased, as: .declined, because: reason, at: now, in: session)
        }
      }
      try say(
        isDry ? "would decline" : "declined", request, isDry ? request.state : .declined, nil, because: reason,
        arguments, terminal)
      return .done
    }
  }

  /// The newest request of this id that is still to be settled.
  private static func open(_ id: String, _ connection: Connection) async throws -> ConsumptionCase {
    let found = try await ConsumptionCommand.find(id, connection)
    let now = WallClock.system.now()
    let isOpen = { (one: ConsumptionCase) in
      one.state != .answered && one.deadline > now && one.transactionID != nil
    }
    guard let request = found.first(where: isOpen) else { throw NotOpen(request: found[0]) }
    return request
  }

  /// Takes the request from the service, with a note of who did.
  private static func take(
    _ request: ConsumptionCase, _ action: StaticString, _ reason: String, _ connection: Connection
  ) async throws -> LeasedConsumption {
    let (now, owner, actor) = (WallClock.system.now(), [UInt8].random(count: 16), OperatingSystemUser.name)
    let leased = try await connection.transaction { session throws(DatabaseError) in
      guard
        let leased = try ConsumptionTable.lease(request, until: now + lease, owner: owner, at: now, in: session)
      else { return nil as LeasedConsumption? }
      try AuditTable.note(
        action, of: "consumption", by: actor, because: "\(request.name): \(reason)", at: now, in: session)
      return leased
    }
    guard let leased else { throw NotOpen(request: request) }
    return leased
  }

  private static func tell(
    _ answer: JSONObject, about request: ConsumptionCase, _ report: ConsumptionReport, _ connection: Connection
  ) async throws -> ConsumptionReport.Outcome {
    let leased = try await take(request, "consumption.answer", "by hand", connection)
    try await connection.transaction { session throws(DatabaseError) in
      try ConsumptionTable.keep(answer, for: leased, in: session)
    }
    let outcome = await report.tell(answer, about: request)
    let now = WallClock.system.now()
    try await connection.transaction { session throws(DatabaseError) in
      switch outcome {
      case .taken: try ConsumptionTable.settle(leased, as: .answered, because: "by hand", at: now, in: session)
      case .refused(let reason):
        try ConsumptionTable.settle(leased, as: .refused, because: reason, at: now, in: session)
      case .later(let reason): try ConsumptionTable.postpone(leased, until: now, because: reason, in: session)
      }
    }
    return outcome
  }

  /// - Parameter state: how the request stands now.
  private static func say(
    _ done: String, _ request: ConsumptionCase, _ state: ConsumptionCase.State, _ answer: JSONObject?,
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

/// Nothing is left to be settled, or somebody is at it.
struct NotOpen: ExitStatusError, CustomStringConvertible {
  let request: ConsumptionCase

  var exitStatus: ExitStatus { .refused }
  var description: String {
    let why =
      request.transactionID == nil
      ? "it does not name its purchase: tell Apple with `switchyard api consumption TRANSACTION`"
      : "what is being worked on is free again after five minutes"
    return "the request of \(request.name) is \(request.state.name), its time ends at \(request.deadline.iso8601); "
      + why
  }
}
