import Adapter
import AppStore
import Database
import HTTPClient
import Intake
import JSON
import Ledger
import Mappings
import Operations
import Purchases
import Runtime
import Seeding
import Service
import Signing
import Time
import Wire

/// The app, environment and client of a `switchyard api` command.
struct APIAccess: Sendable {
  static let options: [Option] =
    [
      .value("app", "APP", "The app that is asked about; without it the only one that is registered."),
      .value(
        "key-file", "FILE",
        "Ask with this .p8 key instead of the sealed one; with --app, --key-id and --issuer, and without a ledger."),
      .value("key-id", "ID", "The key's id, as App Store Connect shows it."),
      .value("issuer", "ID", "The issuer id of the keys, as App Store Connect shows it."),
      EnvironmentOption.option,
      .value("proxy", "URL", "Go through this proxy: http://host:port."),
      .value("tls-root", "FILE", "Trust this root certificate of servers too (PEM or DER)."),
      JSONOutput.option,
    ] + TrustOptions.options + AppleClient.options + DatabaseOptions.options + MasterKeyOptions.options

  private let line: APIClientOptions
  let credentials: AppCredentials
  /// The only environment to ask; `nil` leaves it to the route.
  let environment: APIEnvironment?
  let wantsJSON: Bool
  private let ledger: LedgerSide?

  private struct LedgerSide {
    let app: App
    let store: LedgerStore
  }

  private init(
    _ arguments: ParsedArguments, _ line: APIClientOptions, _ credentials: AppCredentials,
    in environment: APIEnvironment?,
    _ ledger: LedgerSide?
  ) {
    (self.line, self.credentials, self.environment, self.ledger) = (line, credentials, environment, ledger)
    wantsJSON = arguments.wantsJSON
  }

  var client: AppStoreClient { line.client }
  var verifier: SignedDataVerifier { line.verifier }

  /// Runs `body` with the options of the command line, and reports an error of Apple with its fix.
  ///
  /// - Parameter id: the requested ID, whose environment the ledger may know.
  static func with(
    _ arguments: ParsedArguments, _ terminal: Terminal, about id: String? = nil,
    _ body: (APIAccess) async throws -> ExitStatus
  ) async throws -> ExitStatus {
    let environment = try EnvironmentOption.environment(arguments).flatMap { APIEnvironment($0) }
    let hosts = try AppleClient.hosts(arguments)
    if arguments.value("key-file") != nil {
      let line = try APIClientOptions(arguments, hosts, sharing: nil)
      return try await APIAccess(arguments, line, try given(arguments), in: environment, nil).run(terminal, body)
    }
    let options = try DatabaseOptions(arguments)
    return try await options.withDatabase(terminal) { configuration in
      let connection = try await Connection.open(configuration)
      try await options.prepare(connection)
      let (askable, keys) = try await registered(arguments, options, connection, terminal)
      let home = environment == nil ? try await Self.home(of: id, askable.app, connection) : nil
      await connection.close()
      if let home, let id { terminal.note("\(id.plain) is known in \(home.rawValue), and asked about there") }
      let pool = Pool(configuration)
      let line = try APIClientOptions(arguments, hosts, sharing: pool)
      let ledger = LedgerSide(app: askable.app, store: LedgerStore(pool: pool, keys: keys))
      do {
        let access = APIAccess(arguments, line, askable.credentials, in: environment ?? home, ledger)
        let status = try await access.run(terminal, body)
        await pool.close()
        return status
      } catch {
        await pool.close()
        throw error
      }
    }
  }

  private static func registered(
    _ arguments: ParsedArguments, _ options: DatabaseOptions, _ connection: Connection, _ terminal: Terminal
  ) async throws -> (AppWithAPIKey, Keyring) {
    let apps = try await connection.read { session throws(DatabaseError) in try AppTable.all(in: session) }
    guard let named = arguments.value("app") ?? (apps.count == 1 ? apps[0].bundleID : nil) else {
      let names = apps.map(\.bundleID).joined(separator: ", ")
      throw UsageError(
        .missingOption, "Give --app: \(apps.isEmpty ? "no app is registered, see `switchyard app add`" : names).",
        path: arguments.path)
    }
    let app = try await AppRecord.find(named, connection).app
    let hasKey = try await connection.read { session throws(DatabaseError) in
      try CredentialTable.has(.apiKey, of: app, in: session)
    }
    guard hasKey else { throw NoAPIKey(bundleID: app.bundleID, reason: nil) }
    let keys = try await MasterKeyOptions(arguments, database: options).keys(for: connection, terminal)
    let found = try await connection.read { session throws(DatabaseError) in
      try AppWithAPIKey.all(with: keys, in: session)
    }
    guard let askable = found.askable.first(where: { $0.app == app }) else {
      throw NoAPIKey(bundleID: app.bundleID, reason: found.unusable.first { $0.app == app.id }?.reason)
    }
    return (askable, keys)
  }

  /// Returns the environment in which the ledger has an ID of the app; `nil` for neither or both.
  private static func home(of id: String?, _ app: App, _ connection: Connection) async throws -> APIEnvironment? {
    guard let id else { return nil }
    let places = try await connection.read { session throws(DatabaseError) in
      var places: [APIEnvironment] = []
      for place in APIEnvironment.allCases {
        let scope = AppScope(app: app.id, environment: Environment(place))
        let kinds: [Alias.Kind] = [.transactionID, .appTransactionID, .orderID]
        if try LedgerStore.knows(id, as: kinds, in: scope, session) { places.append(place) }
      }
      return places
    }
    return places.count == 1 ? places[0] : nil
  }

  private func run(
    _ terminal: Terminal, _ body: (APIAccess) async throws -> ExitStatus
  ) async throws -> ExitStatus {
    do {
      let status = try await body(self)
      await line.end()
      return status
    } catch let failure as APIError {
      await line.end()
      return try say(failure, terminal)
    } catch {
      await line.end()
      throw error
    }
  }

  private static func given(_ arguments: ParsedArguments) throws -> AppCredentials {
    let bundleID = try arguments.required("app")
    let issuer = try arguments.required("issuer")
    let keyID = try arguments.required("key-id")
    let file = try arguments.required("key-file")
    do throws(CertificateError) {
      let pem: [UInt8]
      do { pem = try Input.read(file, limit: APIClientOptions.fileLimit) } catch {
        throw CertificateError(.malformed, "\(error)")
      }
      return AppCredentials(bundleID: bundleID, key: try APIKey(issuerID: issuer, keyID: keyID, pem: pem))
    } catch { throw KeyFileError(file: file, reason: error.detail) }
  }

  /// Stores Apple's response for an order of a registered app, so that the order ID finds its purchases from now on.
  func keep(order id: String, _ reply: APIResponse<JSONObject>, _ terminal: Terminal) async {
    guard let ledger, reply.answer["signedTransactions"]?.array?.isEmpty == false else { return }
    // The response does not contain the order ID, which later readers need.
    var body: JSONObject = ["orderId": .string(id)]
    for member in reply.answer where member.key != "orderId" { body[member.key] = member.value }
    let logger = Logger(
      label: "switchyard", level: .notice, handler: StreamLogHandler(clock: .system, format: terminal.logFormat))
    let answers = APIResponseRecorder(
      intake: IngestDecider(adapter: MessageDecoder(verifier: verifier)), clock: .system, logger: logger
    ) {
      entry in try await ledger.store.append([entry]).first ?? .stored
    }
    let read = answers.read(body.encoded(), ledger.app, Environment(reply.environment))
    guard await read.record() else { return terminal.note("not kept: the ledger did not take it; ask again") }
    switch read.content {
    case .findings: terminal.note("kept: switchyard explain \(ledger.app.bundleID) \(id)")
    case .refused(let code): terminal.note("not kept: \(code)")
    }
  }

  /// Queues the lookup of an ID whose data changed, or may have changed, at Apple.
  func queue(_ id: String, in environment: APIEnvironment, _ terminal: Terminal) async {
    guard let ledger else { return terminal.note("ledger: none was named, so that nothing is queued there") }
    do {
      try await note(environment, in: ledger).queueLookUp(of: id, at: WallClock.system.now(), on: ledger.store.pool)
      terminal.note("ledger: the lookup of \(id.plain) is queued; `switchyard serve` makes it")
    } catch {
      terminal.note(
        "ledger: the lookup could not be queued: \(error)\n"
          + "next: when the database answers, `switchyard reconcile \(ledger.app.bundleID)`")
    }
  }

  /// Records that Apple accepted a consumption response, so that the request needs no other.
  func noteAnswered(
    _ answer: JSONObject, about id: String, in environment: APIEnvironment, _ terminal: Terminal
  ) async {
    guard let ledger else { return }
    do {
      let settled = try await note(environment, in: ledger).consumption(
        answer, about: id, at: WallClock.system.now(), on: ledger.store.pool)
      if settled > 0 { terminal.note("ledger: Apple's consumption request of \(id.plain) is noted as answered") }
    } catch {
      terminal.note(
        "ledger: the consumption request could not be noted as answered: \(error)\n"
          + "next: `switchyard consumption decline \(id.plain) --reason 'answered by hand'`")
    }
  }

  private func note(_ environment: APIEnvironment, in ledger: LedgerSide) -> NoteAppleChange {
    NoteAppleChange(AppScope(app: ledger.app.id, environment: Environment(environment)))
  }

  /// Verifies a reply's content for this app and the environment that responded.
  func verifying<Answer>(_ reply: APIResponse<Answer>) -> ItemVerifier {
    ItemVerifier(
      verifier: verifier, bundleID: credentials.bundleID, environment: reply.environment, now: reply.receivedAt)
  }

  /// Returns the one environment of a command that changes data, or that has no route to another.
  func environment(_ arguments: ParsedArguments) throws(UsageError) -> APIEnvironment {
    if let environment { return environment }
    throw UsageError(
      .missingOption, "Give --environment production or sandbox: this is asked in one of them.", path: arguments.path)
  }

  private func say(_ failure: APIError, _ terminal: Terminal) throws -> ExitStatus {
    try failure.say(asJSON: wantsJSON, terminal)
  }
}

extension APIError {
  /// Prints the error and its fix; returns the exit status.
  func say(asJSON: Bool, _ terminal: Terminal) throws -> ExitStatus {
    if asJSON {
      var error: JSONObject = ["code": .string(code.rawValue)]
      error["errorCode"] = errorCode.map(JSONValue.integer)
      error["name"] = row.map { .string($0.name) }
      error["detail"] = .string(detail)
      error["nextStep"] = .string(nextStep)
      error["retryAt"] = retryAt.map { .integer($0.sinceEpoch) }
      error["outcomeUnknown"] = .bool(isOutcomeUnknown)
      try terminal.write(["error": .object(error)])
    }
    terminal.note("switchyard: \(self)\nnext: \(nextStep)")
    return saysLater ? .externalLimit : .failed
  }
}

struct KeyFileError: ExitStatusError, CustomStringConvertible {
  let file: String
  let reason: String

  var exitStatus: ExitStatus { .failed }
  var description: String { "no key of the App Store Server API can be read from \(file): \(reason)" }
}
