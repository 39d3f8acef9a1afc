import Adapter
import AppStore
import Database
import HTTPClient
import Intake
import JSON
import Ledger
import Mappings
import Purchases
import Runtime
import Seeding
import Service
import Signing
import Time
import Wire

/// As whom, where and how Apple is asked: what every `switchyard api` command takes.
struct APIAccess: Sendable {
  static let options: [Option] =
    [
      .value(
        "app", "BUNDLE_ID",
        "A registered app: as it, with the key that is sealed in the ledger, within its shared budget."),
      .value(
        "bundle", "ID",
        "The app's bundle id, with --issuer, --key-id and --key-file, for an app that is not registered."),
      .value("issuer", "ID", "The issuer id of the keys, as App Store Connect shows it."),
      .value("key-id", "ID", "The key's id, as App Store Connect shows it."),
      .value("key-file", "FILE", "The .p8 key of the App Store Server API."),
      .value(
        "environment", "NAME", choices: APIEnvironment.allCases.map(\.rawValue),
        "Ask here alone; without it Production, then the sandbox."),
      .value("proxy", "URL", "Go through this proxy: http://host:port."),
      .value("tls-root", "FILE", "Trust this root certificate of servers too (PEM or DER)."),
      .value(
        "root", "FILE", repeats: true, "Trust exactly these roots of signed data instead of Apple's (DER or PEM)."),
      JSONOutput.option,
    ] + AskingApple.options + DatabaseOptions.options + MasterKeyOptions.options

  private let line: APILine
  let credentials: AppCredentials
  /// Where to ask alone; nil leaves it to the route.
  let environment: APIEnvironment?
  let wantsJSON: Bool
  private let ledger: LedgerSide?

  /// The ledger that a registered app is in.
  private struct LedgerSide {
    let app: App
    let store: Ledger
  }

  private init(
    _ arguments: ParsedArguments, _ line: APILine, _ credentials: AppCredentials, in environment: APIEnvironment?,
    _ ledger: LedgerSide?
  ) {
    (self.line, self.credentials, self.environment, self.ledger) = (line, credentials, environment, ledger)
    wantsJSON = arguments.wantsJSON
  }

  var client: AppStoreClient { line.client }
  var verifier: SignedDataVerifier { line.verifier }

  /// Runs `body` with what the command line says; a failure of Apple's is said with what to do about it.
  ///
  /// - Parameter id: what is asked about, of a command that can find the app by it when none is named.
  static func with(
    _ arguments: ParsedArguments, _ terminal: Terminal, about id: AppRouting.ID? = nil,
    _ body: (APIAccess) async throws -> ExitStatus
  ) async throws -> ExitStatus {
    let environment: APIEnvironment? = try arguments.choice("environment")
    let hosts = try AskingApple.hosts(arguments)
    let options = try DatabaseOptions(arguments)
    let sought = try SoughtApp(arguments, options, id)
    guard let sought else {
      let credentials = try given(arguments)
      let line = try APILine(arguments, hosts, sharing: nil)
      return try await APIAccess(arguments, line, credentials, in: environment, nil).run(terminal, body)
    }
    return try await options.withDatabase(terminal) { configuration in
      let connection = try await Connection.open(configuration)
      try await options.prepare(connection)
      let registered = try await RegisteredApps(arguments, options, connection, sought, terminal)
      await connection.close()
      let pool = Pool(configuration)
      let line = try APILine(arguments, hosts, sharing: pool)
      let status: ExitStatus
      do {
        let found = try await registered.find(sought, in: environment, line, pool, terminal)
        status = try await APIAccess(
          arguments, line, found.credentials, in: found.environment,
          LedgerSide(app: found.app, store: Ledger(pool: pool, keys: registered.keys))
        ).run(terminal, body)
      } catch {
        await line.end()
        await pool.close()
        throw error
      }
      await pool.close()
      return status
    }
  }

  private func run(
    _ terminal: Terminal, _ body: (APIAccess) async throws -> ExitStatus
  ) async throws -> ExitStatus {
    do {
      let status = try await body(self)
      await line.end()
      return status
    } catch let failure as CallFailure {
      await line.end()
      return try say(failure, terminal)
    } catch {
      await line.end()
      throw error
    }
  }

  /// The credentials of the command line.
  private static func given(_ arguments: ParsedArguments) throws -> AppCredentials {
    let bundleID = try arguments.required("bundle")
    let issuer = try arguments.required("issuer")
    let keyID = try arguments.required("key-id")
    let file = try arguments.required("key-file")
    do throws(CertificateError) {
      let pem: [UInt8]
      do { pem = try Input.read(file, limit: APILine.fileLimit) } catch {
        throw CertificateError(.malformed, "\(error)")
      }
      return AppCredentials(bundleID: bundleID, key: try APIKey(issuerID: issuer, keyID: keyID, pem: pem))
    } catch { throw KeyFileError(file: file, reason: error.detail) }
  }

  /// Keeps what Apple told of an order of a registered app, so that the purchases are found by its id from now on.
  func keep(order id: String, _ reply: Reply<OrderLookupResponse>, _ terminal: Terminal) async {
    guard let ledger, let answer = reply.json, !(reply.answer.signedTransactions ?? []).isEmpty else { return }
    // The answer does not name the order: whoever reads it again has to know.
    var body: JSONObject = ["orderId": .string(id)]
    for member in answer where member.key != "orderId" { body[member.key] = member.value }
    let logger = Logger(
      label: "switchyard", level: .notice, handler: StreamLogHandler(clock: .system, format: terminal.logFormat))
    let answers = AppleAnswers(intake: Intake(adapter: Adapter(verifier: verifier)), clock: .system, logger: logger) {
      entry in try await ledger.store.append([entry]).first ?? .stored
    }
    let read = answers.read(body.encoded(), ledger.app, Environment(reply.environment))
    guard await read.record() else { return terminal.note("not kept: the ledger did not take it; ask again") }
    switch read.content {
    case .findings: terminal.note("kept: switchyard explain \(ledger.app.bundleID) \(id)")
    case .refused(let code): terminal.note("not kept: \(code)")
    }
  }

  /// Brings the ledger up to date about a registered app; nil where the command line brought the key.
  func catchUp(in environment: APIEnvironment, _ terminal: Terminal) -> LedgerCatchUp? {
    ledger.map { ledger in
      LedgerCatchUp(
        app: ledger.app, store: ledger.store, credentials: credentials, client: client, verifier: verifier,
        environment: environment, terminal: terminal)
    }
  }

  /// The one environment of a command that changes something, or where nothing leads to another.
  func environment(_ arguments: ParsedArguments) throws(UsageError) -> APIEnvironment {
    if let environment { return environment }
    throw UsageError(
      .missingOption, "Give --environment Production or Sandbox: this is asked in one of them.", path: arguments.path)
  }

  var route: EnvironmentRoute { EnvironmentRoute(known: environment) }

  private func say(_ failure: CallFailure, _ terminal: Terminal) throws -> ExitStatus {
    try failure.say(asJSON: wantsJSON, terminal)
  }
}

extension CallFailure {
  /// Says why there is no answer and what to do next; returns how the command ends.
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

/// A file given as a key that holds none.
struct KeyFileError: ExitStatusError, CustomStringConvertible {
  let file: String
  let reason: String

  var exitStatus: ExitStatus { .failed }
  var description: String { "no key of the App Store Server API can be read from \(file): \(reason)" }
}
