import AppStore
import HTTPClient
import JSON
import Mappings
import Runtime
import Signing
import Time

/// As whom, where and how Apple is asked: what every `switchyard api` command takes.
struct APIAccess: Sendable {
  static let options: [Option] = [
    .value("bundle", "ID", "The app's bundle id."),
    .value("issuer", "ID", "The issuer id of the keys, as App Store Connect shows it."),
    .value("key-id", "ID", "The key's id, as App Store Connect shows it."),
    .value("key-file", "FILE", "The .p8 key of the App Store Server API."),
    .value(
      "environment", "NAME", choices: APIEnvironment.allCases.map(\.rawValue),
      "Ask here alone; without it Production, then the sandbox."),
    .value("base-url", "URL", "Another host than Apple's: a simulator's, its sandbox below /sandbox."),
    .value("proxy", "URL", "Go through this proxy: http://host:port."),
    .value("tls-root", "FILE", "Trust this root certificate of servers too (PEM or DER)."),
    .value("root", "FILE", repeats: true, "Trust exactly these roots of signed data instead of Apple's (DER or PEM)."),
    JSONOutput.option,
  ]

  private static let fileLimit = 1 << 20

  let client: AppStoreClient
  let credentials: AppCredentials
  let verifier: SignedDataVerifier
  /// Where to ask alone; nil leaves it to the route.
  let environment: APIEnvironment?
  let wantsJSON: Bool
  private let http: HTTPClient

  private init(_ arguments: ParsedArguments) throws {
    let bundleID = try arguments.required("bundle")
    let issuer = try arguments.required("issuer")
    let keyID = try arguments.required("key-id")
    let file = try arguments.required("key-file")
    do throws(CertificateError) {
      let pem: [UInt8]
      do { pem = try Input.read(file, limit: Self.fileLimit) } catch { throw CertificateError(.malformed, "\(error)") }
      credentials = AppCredentials(
        bundleID: bundleID, key: try APIKey(issuerID: issuer, keyID: keyID, pem: pem))
    } catch { throw KeyFileError(file: file, reason: error.detail) }
    var roots: [RootCertificate] = []
    for root in arguments.values("root") { roots += try TrustOptions.read(root) }
    verifier = SignedDataVerifier(roots: roots.isEmpty ? .apple : TrustedRoots(exactly: roots))
    environment = try arguments.choice("environment")
    wantsJSON = arguments.wantsJSON
    var configuration = HTTPClientConfiguration()
    configuration.proxy = arguments.value("proxy")
    if let root = arguments.value("tls-root") {
      configuration.additionalRoots = try Input.read(root, limit: Self.fileLimit)
    }
    http = HTTPClient(configuration)
    let timing = CallTiming(clock: .system)
    let base = arguments.value("base-url")
    let gate = BudgetGate(
      store: SharedBudgets().member("command"), timing: timing,
      bounds: { base == nil ? .documented($0) : .unknown($0) })
    client = AppStoreClient(
      http: http, hosts: base.map { AppStoreHosts(simulator: $0) } ?? .apple, gate: gate, timing: timing)
  }

  /// Runs `body` with what the command line says; a failure of Apple's is said with what to do about it.
  static func with(
    _ arguments: ParsedArguments, _ terminal: Terminal,
    _ body: (APIAccess) async throws -> ExitStatus
  ) async throws -> ExitStatus {
    let access = try APIAccess(arguments)
    do {
      let status = try await body(access)
      await access.http.shutdown()
      return status
    } catch let failure as CallFailure {
      await access.http.shutdown()
      return try access.say(failure, terminal)
    } catch {
      await access.http.shutdown()
      throw error
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
    if wantsJSON {
      var error: JSONObject = ["code": .string(failure.code.rawValue)]
      error["errorCode"] = failure.errorCode.map(JSONValue.integer)
      error["name"] = failure.row.map { .string($0.name) }
      error["detail"] = .string(failure.detail)
      error["nextStep"] = .string(failure.nextStep)
      error["retryAt"] = failure.retryAt.map { .integer($0.sinceEpoch) }
      error["outcomeUnknown"] = .bool(failure.isOutcomeUnknown)
      try terminal.write(["error": .object(error)])
    }
    terminal.note("switchyard: \(failure)\nnext: \(failure.nextStep)")
    switch failure.code {
    case .rateLimited, .serverFailed, .overBudget: return .externalLimit
    case .invalidCall, .noToken, .unauthorized, .refused, .unreachable, .untrusted, .interrupted, .malformedAnswer,
      .tooLarge, .endlessPaging, .cancelled:
      return .failed
    }
  }
}

/// A file given as a key that holds none.
struct KeyFileError: ExitStatusError, CustomStringConvertible {
  let file: String
  let reason: String

  var exitStatus: ExitStatus { .failed }
  var description: String { "no key of the App Store Server API can be read from \(file): \(reason)" }
}
