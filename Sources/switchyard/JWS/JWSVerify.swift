import HTTPClient
import JSON
import RevocationChecks
import Runtime
import Service
import Signing
import Time

/// `switchyard jws verify`: verifies that data is Apple's, and prints it.
///
/// Kinds, codes and exit statuses are stable.
struct JWSVerify {
  static let command = Command(
    "verify", "Verify signed data of the App Store and print what it says.",
    discussion: """
      FILE holds a bare JWS, a body {"signedPayload": …}, or one of either a line; - is stdin. A notification is \
      verified with the transaction and renewal inside it. Only the given options are checked. Exit status: 0 when all is \
      verified, 1 when the only one is refused, 3 when some of several are.
      """,
    whenStopped: "The rest of the input was not verified.",
    examples: [
      Command.Example("switchyard jws verify notification.json"),
      Command.Example("switchyard jws verify --json --app com.example.app - < log.jsonl", "a line each"),
      Command.Example("switchyard jws verify --root simulator.der transaction.jws", "other roots than Apple's"),
    ],
    options: [
      JSONOutput.option,
      .value("root", "FILE", repeats: true, "Trust exactly these roots instead of Apple's (DER or PEM)."),
      .value("app", "APP", formerly: "bundle-id", "Refuse what is of another app."),
      .value("app-apple-id", "NUMBER", "Refuse what has another Apple id."),
      .value(
        "environment", "NAME", choices: AppStoreEnvironment.allCases.map(\.rawValue),
        "Refuse what is of another environment."),
      .flag(
        "check-revocation", formerly: "ocsp",
        "Ask Apple's responders whether the certificates were revoked; refuse data unless they confirm its certificates."
      ),
      .flag("allow-unsigned-test-data", "Accept data of Xcode and LocalTesting, which is unverified."),
    ],
    arguments: [Positional("FILE", "The file to verify, or - for stdin.")]
  ) { arguments, terminal in
    let verify = try JWSVerify(arguments)
    return try await verify.run(Input.read(arguments.positionals[0], limit: inputLimit), terminal)
  }

  /// A day's log of a busy app.
  private static let inputLimit = 256 << 20

  private let verifier: SignedDataVerifier
  private let revocations: RevocationCache?
  private let expectation: ExpectedClaims
  /// Checked afterwards, where `expectation` cannot.
  private let environment: AppStoreEnvironment?
  private let wantsJSON: Bool

  private init(_ arguments: ParsedArguments) throws {
    var roots: [RootCertificate] = []
    for file in arguments.values("root") { roots += try TrustOptions.read(file) }
    revocations = arguments.flag("check-revocation") ? RevocationCache() : nil
    verifier = SignedDataVerifier(
      roots: roots.isEmpty ? .apple : TrustedRoots(exactly: roots), revocations: revocations)
    environment = try arguments.choice("environment")
    expectation = ExpectedClaims(
      bundleID: arguments.value("app"),
      appAppleID: try arguments.integer("app-apple-id", in: 1...Int.max).map(Int64.init),
      environment: try Self.environment(arguments, environment))
    wantsJSON = arguments.wantsJSON
  }

  private static func environment(
    _ arguments: ParsedArguments, _ environment: AppStoreEnvironment?
  ) throws(UsageError) -> ExpectedClaims.Environment {
    guard arguments.flag("allow-unsigned-test-data") else { return environment.map { .only($0) } ?? .any }
    switch environment {
    case .xcode, .localTesting, nil: return .unsignedTestData
    case .production, .sandbox:
      throw UsageError(
        .invalidValue, "--allow-unsigned-test-data goes with --environment Xcode or LocalTesting only.",
        path: arguments.path)
    }
  }

  private func run(_ bytes: [UInt8], _ terminal: Terminal) async throws -> ExitStatus {
    let items = SignedInput(bytes).items
    guard !items.isEmpty else {
      if wantsJSON { try terminal.write(Self.refused("emptyInput", "there is nothing to verify", line: nil)) }
      terminal.note("switchyard: there is nothing to verify: the input is empty")
      return .failed
    }
    let now = WallClock.system.now()
    var unanswered: Refusal?
    if let revocations {
      let client = HTTPClient()
      unanswered = await ask(about: items, revocations, Responder(client: client), terminal)
      await client.shutdown()
    }
    var (refused, looked) = (0, 0)
    for item in items where !Task.isCancelled {
      looked += 1
      let line = items.count > 1 ? item.line : nil
      var outcome = outcome(of: item, now: now)
      if case .success = outcome, let unanswered { outcome = .failure(unanswered) }
      switch outcome {
      case .success(let document): try print(document, line, terminal)
      case .failure(let refusal):
        refused += 1
        if wantsJSON {
          try terminal.write(Self.refused(refusal.code, refusal.detail, line: line))
        } else {
          try terminal.write("\(line.map { "line \($0): " } ?? "")REFUSED \(refusal.code): \(refusal.detail)\n")
        }
      }
    }
    if looked < items.count {
      terminal.note("\(looked) of \(items.count) looked at, \(refused) refused")
      if wantsJSON {
        let summary: JSONObject = ["lookedAt": .integer(Int64(looked)), "refused": .integer(Int64(refused))]
        try terminal.write(summary.notingStop)
      }
    } else if items.count > 1, refused > 0 {
      terminal.note("\(refused) of \(items.count) refused")
    }
    return refused == 0 ? .done : items.count == 1 ? .failed : .doneWithRejects
  }

  /// Checks every certificate at its responder, and returns the items that fail.
  ///
  /// A notification's parts are verified only after the notification, so the certificates come in steps.
  private func ask(
    about items: [SignedInput.Item], _ revocations: RevocationCache, _ responder: Responder, _ terminal: Terminal
  ) async -> Refusal? {
    var refusal: Refusal?
    for _ in 0..<3 {
      for item in items where !Task.isCancelled { _ = outcome(of: item, now: WallClock.system.now()) }
      _ = await responder.ask(revocations, clock: .system) { question, outcome, _ in
        let said: (text: String, refusedAs: String?) =
          switch outcome {
          case .success(let status): (status.words, status == .unknown ? "revocationNotKnown" : nil)
          case .failure(let failure):
            ("\(failure)", failure == .noResponder ? "noResponderNamed" : "revocationNotKnown")
          }
        let text = "certificate \(question.certificate.serialNumber): \(said.text)"
        terminal.note(text)
        if let code = said.refusedAs { refusal = refusal ?? Refusal(code: code, detail: text) }
      }
    }
    return refusal
  }

  private struct Refusal: Error {
    let code: String
    let detail: String
  }

  private func outcome(of item: SignedInput.Item, now: Timestamp) -> Result<VerifiedDocument, Refusal> {
    switch item.jws {
    case .failure(let problem): return .failure(Refusal(code: problem.code.rawValue, detail: problem.detail))
    case .success(let jws):
      do throws(VerificationError) {
        let document = VerifiedDocument(try verifier.verifyAny(jws, expecting: expectation, now: now))
        try check(document.environment)
        return .success(document)
      } catch {
        return .failure(Refusal(code: error.code.rawValue, detail: error.detail))
      }
    }
  }

  private func check(_ seen: AppStoreEnvironment?) throws(VerificationError) {
    guard let environment, seen != environment else { return }
    throw VerificationError(
      .wrongEnvironment, "the environment is \(seen?.rawValue ?? "none") instead of \(environment.rawValue)")
  }

  private func print(_ document: VerifiedDocument, _ line: Int?, _ terminal: Terminal) throws {
    if wantsJSON {
      var object = document.json
      object["line"] = line.map { .integer(Int64($0)) }
      try terminal.write(object)
    } else {
      try terminal.write("\(line.map { "line \($0): " } ?? "")\(document.text)")
    }
  }

  private static func refused(_ code: String, _ detail: String, line: Int?) -> JSONObject {
    var object: JSONObject = ["error": ["code": .string(code), "detail": .string(detail)]]
    object["line"] = line.map { .integer(Int64($0)) }
    return object
  }
}

enum JWSCommand {
  static let command = Command(
    "jws", "Look at signed data of the App Store.",
    examples: [Command.Example("switchyard jws verify --json notification.json")], subcommands: [JWSVerify.command])
}
