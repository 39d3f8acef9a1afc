import AppStore
import Database
import Ledger
import Operations
import Purchases
import Runtime
import Seeding
import Service
import Signing

/// Which registered app an `api` command is about.
enum SoughtApp {
  /// With the id that is asked about, if it is about one.
  case named(String, AppRouting.ID?)
  /// The one that the id is of.
  case of(AppRouting.ID)

  /// Nil when the command line itself says as whom to ask, or has to.
  init?(_ arguments: ParsedArguments, _ options: DatabaseOptions, _ id: AppRouting.ID?) throws {
    if let bundleID = arguments.value("app") {
      self = .named(bundleID, id)
      return
    }
    let isGiven = ["bundle", "issuer", "key-id", "key-file"].contains { arguments.value($0) != nil }
    let hasLedger = options.url != nil || EmbeddedServer.hasData(in: options.embeddedDirectory)
    guard let id, !isGiven, hasLedger else { return nil }
    self = .of(id)
  }
}

/// The registered apps with their keys, one of which a command is about.
struct RegisteredApps {
  private let candidates: [AppRouting.Candidate]
  let keys: Keyring

  init(
    _ arguments: ParsedArguments, _ options: DatabaseOptions, _ connection: Connection, _ sought: SoughtApp,
    _ terminal: Terminal
  ) async throws {
    var name: String?
    if case .named(let bundleID, _) = sought { name = try await AppRecord.find(bundleID, connection).app.bundleID }
    let hasSealed = try await connection.read { session throws(DatabaseError) in
      try CredentialTable.hasAny(in: session)
    }
    guard hasSealed else { throw NoAPIKey(bundleID: name, reason: nil) }
    keys = try await MasterKeyOptions(arguments, database: options).keys(for: connection, terminal)
    candidates = try await connection.read { [keys] session throws(DatabaseError) in
      try AskableApp.candidates(with: keys, in: session)
    }
  }

  /// The app, as whom and where to ask; says on stderr how it was found when nobody had named it.
  func find(
    _ sought: SoughtApp, in environment: APIEnvironment?, _ line: APILine, _ pool: Pool, _ terminal: Terminal
  ) async throws -> (app: App, credentials: AppCredentials, environment: APIEnvironment?) {
    let app: App
    var place = environment
    let routing = AppRouting(pool: pool, client: line.client, verifier: line.verifier)
    switch sought {
    case .named(let bundleID, let id):
      guard let found = candidates.first(where: { $0.app.bundleID == bundleID }) else {
        throw NoAPIKey(bundleID: bundleID, reason: nil)
      }
      app = found.app
      if place == nil, let id, let home = try await routing.home(of: id, in: app) {
        terminal.note("\(id.text) is known in \(home.rawValue), and asked about there; --environment asks elsewhere")
        place = home
      }
    case .of(let id):
      switch try await routing.route(id, among: candidates, in: environment) {
      case .found(let found, let known, let by):
        (app, place) = (found, environment ?? known.flatMap { APIEnvironment($0) })
        let knower =
          switch by {
          case .ledger: "the ledger knows it"
          case .apple: "Apple does"
          }
        terminal.note("\(id.text) is of \(found.bundleID)\(known.map { " in \($0.rawValue)" } ?? ""): \(knower)")
      case .ambiguous(let apps): throw AmbiguousApp(id: id.text, apps: apps.map(\.bundleID))
      case .unknown(let asked, let notAsked): throw UnknownApp(id: id.text, asked: asked, notAsked: notAsked)
      }
    }
    switch candidates.first(where: { $0.app == app })?.access {
    case .success(let credentials): return (app, credentials, place)
    case .failure(.unusableKey(let reason)): throw NoAPIKey(bundleID: app.bundleID, reason: reason)
    case .failure, nil: throw NoAPIKey(bundleID: app.bundleID, reason: nil)
    }
  }
}

/// The ledger knows an id of several apps.
struct AmbiguousApp: ExitStatusError, CustomStringConvertible {
  let id: String
  let apps: [String]

  var exitStatus: ExitStatus { .failed }
  var description: String {
    "\(id) is known of \(apps.joined(separator: " and ")): say which with --app BUNDLE_ID"
  }
}

/// Nobody who was asked knows of which app an id is.
struct UnknownApp: ExitStatusError, CustomStringConvertible {
  let id: String
  let asked: [App]
  let notAsked: [AppRouting.NotAsked]

  var exitStatus: ExitStatus {
    let isPutOff = notAsked.contains { if case .failed(let failure) = $0.reason { failure.saysLater } else { false } }
    return isPutOff ? .externalLimit : .failed
  }

  var description: String {
    var lines = ["of which app \(id) is, nobody knows: not the ledger"]
    if !asked.isEmpty {
      lines[0] += ", nor Apple, asked about \(asked.map(\.bundleID).joined(separator: ", "))"
    }
    lines += notAsked.map { "not asked: \($0)" }
    lines.append(
      "next: check the id; name the app with --app BUNDLE_ID, or give its key with `switchyard app add BUNDLE_ID "
        + "--key-file FILE --key-id ID --issuer ID`")
    return lines.joined(separator: "\n")
  }
}
