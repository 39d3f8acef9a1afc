import AppStore
import JSON
import Mappings
import Runtime
import Time

/// `switchyard api WORD`: one Apple endpoint, as its row of `endpoints.tsv` defines it.
struct APIWord: Sendable {
  private let row: EndpointTable.Row
  private let endpoint: Endpoint

  /// A command for each endpoint except verifyReceipt, which takes a receipt and no key.
  static var commands: [Command] {
    Vocabulary.embedded.endpoints.rows.compactMap { row in
      Endpoint(rawValue: row.endpoint).map { APIWord(row: row, endpoint: $0) }
    }.filter { $0.endpoint != .verifyReceipt }.map(\.command)
  }

  private var command: Command {
    let values = row.parameters.map { " " + (Self.samples[$0] ?? $0.uppercased()) }.joined()
    let example = "switchyard api \(row.word)\(values)\(Self.bodies[row.word] ?? "") --app com.example.app"
    let environment = needsEnvironment ? " --environment Production" : ""
    return Command(
      row.word, "\(row.endpoint): \(row.method) \(row.path)", examples: [Command.Example(example + environment)],
      options: (hasBody ? [.value("body", "FILE", "The body: JSON, or a PNG; - is stdin.")] : [])
        + (row.changes ? [.flag("dry-run", "Print the call that would be made and make none.")] : []),
      arguments: row.parameters.map { Positional($0, "A part of the path.") } + [
        Positional(
          "NAME=VALUE", count: .any,
          hasBody
            ? """
            A member of the body, under Apple's name: text where the name ends with Id or Identifier, an RFC \
            3339 date where it ends with Date, JSON if it is valid JSON, text otherwise. With --body: a member of the query.
            """ : "A member of the query, under Apple's name; it may be repeated.")
      ]
    ) { [self] arguments, terminal in
      let call = try call(arguments)
      let id = namesPurchase ? arguments.positionals.first : nil
      return try await APIAccess.with(arguments, terminal, about: needsEnvironment ? nil : id) { access in
        row.changes
          ? try await change(call, id, access, arguments, terminal) : try await read(call, access, arguments, terminal)
      }
    }
  }

  private var hasBody: Bool { ["POST", "PUT"].contains(row.method) }
  private var needsEnvironment: Bool { row.changes || !namesPurchase }
  private var namesPurchase: Bool {
    ["anyTransactionId", "transactionId", "originalTransactionId", "orderId"].contains(row.parameters.first)
  }

  private static let samples = [
    "anyTransactionId": "2000000123456789", "transactionId": "2000000123456789",
    "originalTransactionId": "2000000123456789", "orderId": "MK5TTTVWJH", "productId": "com.example.pro",
    "requestIdentifier": "outage-may", "locale": "en-US",
  ]
  private static let bodies = [
    "extend": " extendByDays=7 extendReasonCode=3 requestIdentifier=outage-may",
    "extend-all": " productId=com.example.pro extendByDays=7 extendReasonCode=3 requestIdentifier=outage-may",
    "account-token": " appAccountToken=7e3fb20b-4cdb-47cc-936d-99d65f608138",
    "consumption": " customerConsented=true deliveryStatus=DELIVERED sampleContentProvided=false",
    "notification-history": " startDate=2026-11-01T00:00:00Z endDate=2026-11-30T00:00:00Z onlyFailures=true",
    "history": " productType=AUTO_RENEWABLE", "message-set-default": " messageIdentifier=UUID",
    "message-set-url": " realtimeURL=https://example.com/retention",
  ]

  // MARK: The call

  private static let bodyLimit = 16 << 20

  private func call(_ arguments: ParsedArguments) throws -> APIRequest<JSONObject> {
    let count = row.parameters.count
    let path = Dictionary(zip(row.parameters, arguments.positionals)) { first, _ in first }
    let pairs = try arguments.positionals.dropFirst(count).map { word in
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 2, !parts[0].isEmpty else {
        throw UsageError(
          .unexpectedArgument,
          "\(UsageError.shown(word)) is not NAME=VALUE: the arguments after the path have Apple's names.",
          path: arguments.path)
      }
      return (name: parts[0], value: parts[1])
    }
    let query = pairs.map { ($0.name, Self.date($0.name, $0.value).map { "\($0)" } ?? $0.value) }
    guard hasBody else { return APIRequest(endpoint, path: path, query: query) }
    guard let file = arguments.value("body") else {
      let members = pairs.map { JSONObject.Member(key: $0.name, value: Self.value($0.name, $0.value)) }
      return APIRequest(endpoint, path: path, body: members.isEmpty ? .none : .json(JSONObject(uniqueMembers: members)))
    }
    let bytes = try Input.read(file, limit: Self.bodyLimit)
    if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]) {
      return APIRequest(endpoint, path: path, query: query, body: .png(bytes))
    }
    guard let object = (try? JSONReader.read(bytes))?.object else {
      throw UsageError(.invalidValue, "\(file.plain) holds neither a JSON object nor a PNG.", path: arguments.path)
    }
    return APIRequest(endpoint, path: path, query: query, body: .json(object))
  }

  private static func value(_ name: String, _ text: String) -> JSONValue {
    if let date = date(name, text) { return .integer(date) }
    if ["Id", "Identifier"].contains(where: name.hasSuffix) { return .string(text) }
    return (try? JSONReader.read(Array(text.utf8))) ?? .string(text)
  }

  private static func date(_ name: String, _ text: String) -> Int64? {
    guard name.hasSuffix("Date") else { return nil }
    return Timestamp(rfc3339: Array(text.utf8).span)?.sinceEpoch
  }

  // MARK: Reading

  private func read(
    _ call: APIRequest<JSONObject>, _ access: APIAccess, _ arguments: ParsedArguments, _ terminal: Terminal
  ) async throws -> ExitStatus {
    var reply = try await first(call, access, arguments, terminal)
    if endpoint == .lookUpOrderId { await access.keep(order: arguments.positionals[0], reply, terminal) }
    var shown = ShownAnswers(access.wantsJSON, terminal)
    while true {
      try shown.add(VerifiedAnswer(reply.answer, access.verifying(reply)))
      guard let next = call.page(after: reply.answer) else { break }
      do throws(APIError) {
        reply = try await access.client.send(next, as: access.credentials, in: reply.environment)
      } catch {
        _ = try shown.finish()
        let place = call.cursor(of: reply.answer).map { "; continue with \($0.name)=\($0.value)" } ?? ""
        terminal.note("broken off after \(shown.count) in \(reply.environment.rawValue)\(place)")
        throw error
      }
    }
    let status = try shown.finish()
    if let cursor = call.cursor(of: reply.answer) {
      terminal.note("\(shown.count) in \(reply.environment.rawValue); continue with \(cursor.name)=\(cursor.value)")
      if shown.count == 0 {
        terminal.note(
          "nothing at all: Apple's response to a wrong bundle id is the same; `switchyard api check` shows more")
      }
    }
    if endpoint == .lookUpOrderId, reply.answer["status"] == 1 {
      terminal.note("Apple knows no such order of this app\(access.environment.map { " in \($0.rawValue)" } ?? "")")
      return .failed
    }
    if endpoint == .getTestNotificationStatus {
      let result = reply.answer["sendAttempts"]?.array?.last?.object?["sendAttemptResult"]
      return status == .done && result == "SUCCESS" ? .done : .failed
    }
    return status
  }

  private func first(
    _ call: APIRequest<JSONObject>, _ access: APIAccess, _ arguments: ParsedArguments, _ terminal: Terminal
  ) async throws -> APIResponse<JSONObject> {
    guard !needsEnvironment else {
      return try await access.client.send(call, as: access.credentials, in: access.environment(arguments))
    }
    let route = EnvironmentSearch(known: access.environment)
    let reply = try await access.client.send(call, as: access.credentials, along: route)
    // For an unknown order Apple returns success, so that no route tries the other environment.
    guard endpoint == .lookUpOrderId, reply.answer["status"] == 1, access.environment == nil else { return reply }
    let other = try? await access.client.send(call, as: access.credentials, in: reply.environment.other)
    return other.flatMap { $0.answer["status"] == 1 ? nil : $0 } ?? reply
  }

  // MARK: Changing

  private func change(
    _ call: APIRequest<JSONObject>, _ id: String?, _ access: APIAccess, _ arguments: ParsedArguments,
    _ terminal: Terminal
  ) async throws -> ExitStatus {
    let environment = try access.environment(arguments)
    if arguments.flag("dry-run") {
      try terminal.write("\(row.method) \(try call.target())\n")
      switch call.body {
      case .none: break
      case .json(let object): try terminal.write(object)
      case .png(let bytes): try terminal.write("(\(bytes.count) bytes of PNG)\n")
      }
      terminal.note("dry run in \(environment.rawValue): nothing was sent")
      return .done
    }
    let reply: APIResponse<JSONObject>
    do throws(APIError) {
      reply = try await access.client.send(call, as: access.credentials, in: environment)
    } catch {
      // Queue a lookup, because Apple may have made the change.
      if error.isOutcomeUnknown, let id { await access.queue(id, in: environment, terminal) }
      throw error
    }
    var shown = ShownAnswers(access.wantsJSON, terminal)
    try shown.add(VerifiedAnswer(reply.answer, access.verifying(reply)))
    _ = try shown.finish()
    if reply.answer["success"] == false {
      terminal.note("Apple does not say that it was done\nnext: `switchyard api status` shows its state")
      return .failed
    }
    if !access.wantsJSON { terminal.note("done in \(environment.rawValue)") }
    if case .json(let body) = call.body, let id, row.path.contains("/consumption/") {
      await access.noteAnswered(body, about: id, in: environment, terminal)
    }
    if let id { await access.queue(id, in: environment, terminal) }
    return .done
  }
}

extension APIRequest<JSONObject> {
  fileprivate func cursor(of answer: JSONObject) -> (name: String, value: String)? {
    for name in ["revision", "paginationToken"] {
      if let value = answer[name]?.string { return (name, value) }
    }
    return nil
  }

  /// Returns the call for the next page; `nil` after the last one, or if Apple's position does not change.
  fileprivate func page(after answer: JSONObject) -> Self? {
    guard answer["hasMore"] == true, let cursor = cursor(of: answer),
      !query.contains(where: { $0.name == cursor.name && $0.value == cursor.value })
    else { return nil }
    return APIRequest(
      endpoint, path: path, query: query.filter { $0.name != cursor.name } + [(cursor.name, cursor.value)], body: body)
  }
}
