import Database
import JSON
import Ledger
import Operations
import Runtime
import Signing
import Time

/// `switchyard app token`: bearer tokens of an app's own back end.
enum AppToken {
  static let command = Command(
    "token", "Make a bearer token for an app's back end, or end one.",
    discussion: """
      A token is printed once and kept as a digest only. `app list APP` lists names and labels.

      --certificate: a client is known by its certificate instead. A proxy in front authenticates the client (mutual TLS) \
      and names the certificate in a header: `serve --trusted-proxy NETWORK --client-certificate-header NAME`. The header \
      has the SHA-256 of the certificate in hexadecimal digits (HAProxy), `Hash=` of X-Forwarded-Client-Cert (Envoy) or \
      the certificate itself in escaped PEM (nginx). The proxy must remove what clients send in that header. A certificate that is in every copy \
      of an app is worth no more than the shared secret: keep its key on your own machines. It counts \
      for /verifyReceipt, where `app set --answer-clients token` is set; /v1 takes only tokens.
      """,
    examples: [
      Command.Example("switchyard app token com.example.app --label backend"),
      Command.Example("switchyard app token com.example.app --certificate client.pem --label ios-gateway"),
      Command.Example("switchyard app token --revoke 1f0c2b3a", "the name as `app list APP` lists it"),
    ],
    options: [
      .value("label", "TEXT", default: "", "What it is for; shown in lists."),
      .value("revoke", "NAME", "End the token of this name instead; the service notices within seconds."),
      .value("certificate", "FILE", "Know a client by this certificate (PEM or DER) instead of a token."),
      .flag("dry-run", "Say what would be done and do nothing."), JSONOutput.option,
    ], arguments: [Positional("APP", count: .optional, "The app's bundle id; --revoke does not need it.")]
  ) { arguments, terminal in
    let name = try arguments.value("revoke").map { try DigestPrefix($0, minimum: RevokeToken.shortestName, arguments) }
    guard name == nil || arguments.value("label") == "" && arguments.value("certificate") == nil else {
      throw UsageError(
        .unexpectedValue, "--label and --certificate are for a new token, not for --revoke.", path: arguments.path)
    }
    return try await DatabaseOptions(arguments).withLedger(terminal) { connection in
      if let name { return try await revoke(name, connection, arguments, terminal) }
      guard let bundleID = arguments.positionals.first else {
        throw UsageError(.missingArgument, "Give BUNDLE_ID: the app that the token is for.", path: arguments.path)
      }
      if let file = arguments.value("certificate") {
        return try await accept(file, for: bundleID, connection, arguments, terminal)
      }
      return try await issue(label: arguments.value("label") ?? "", for: bundleID, connection, arguments, terminal)
    }
  }

  private static func issue(
    label: String, for bundleID: String, _ connection: Connection, _ arguments: ParsedArguments, _ terminal: Terminal
  ) async throws -> ExitStatus {
    let issue = IssueToken(for: bundleID, label: label)
    let app = try await issue.plan(on: connection)
    if arguments.flag("dry-run") {
      return try would(
        "make a token of \(app.bundleID)\(label.isEmpty ? "" : ", \(label.plain)")",
        ["app": .string(app.bundleID), "dryRun": true, "label": .string(label)], arguments, terminal)
    }
    let issued = try await issue.apply(app, by: .ofCommand(), at: WallClock.system.now(), on: connection)
    if arguments.wantsJSON {
      try terminal.write([
        "app": .string(app.bundleID), "label": .string(issued.label), "token": .string(issued.token),
      ])
    } else {
      try terminal.write("\(issued.token)\n")
    }
    terminal.note("this is the only time the token is shown; its bearer reads and writes \(app.bundleID)")
    return .done
  }

  private static func accept(
    _ file: String, for bundleID: String, _ connection: Connection, _ arguments: ParsedArguments, _ terminal: Terminal
  ) async throws -> ExitStatus {
    guard let certificate = CertificateFingerprint(file: try Input.read(file, limit: 1 << 20)) else {
      throw UsageError(.invalidValue, "\(file) holds no certificate in PEM or DER.", path: arguments.path)
    }
    let (label, digest) = (arguments.value("label") ?? "", certificate.digest.hex)
    let acceptance = AcceptClientCertificate(certificate, for: bundleID, label: label)
    let app = try await acceptance.plan(on: connection)
    if arguments.flag("dry-run") {
      return try would(
        "know a client of \(app.bundleID) by the certificate \(digest)",
        ["app": .string(app.bundleID), "certificate": .string(digest), "dryRun": true, "label": .string(label)],
        arguments, terminal)
    }
    try await acceptance.apply(app, by: .ofCommand(), at: WallClock.system.now(), on: connection)
    if arguments.wantsJSON {
      try terminal.write([
        "app": .string(app.bundleID), "certificate": .string(digest), "label": .string(label),
      ])
    } else {
      try terminal.write("accepted \(digest)\n")
    }
    return .done
  }

  private static func would(
    _ sentence: String, _ object: JSONObject, _ arguments: ParsedArguments, _ terminal: Terminal
  ) throws -> ExitStatus {
    if arguments.wantsJSON { try terminal.write(object) } else { try terminal.write("would: \(sentence)\n") }
    return .done
  }

  private static func revoke(
    _ name: DigestPrefix, _ connection: Connection, _ arguments: ParsedArguments, _ terminal: Terminal
  ) async throws -> ExitStatus {
    let revocation = RevokeToken(name, of: arguments.positionals.first)
    let plan = try await revocation.plan(on: connection)
    let app = plan.app.bundleID
    if arguments.flag("dry-run") {
      return try would(
        "revoke \(name.text) of \(app)",
        ["app": .string(app), "dryRun": true, "revoked": .integer(Int64(plan.tokens))], arguments, terminal)
    }
    let count = try await revocation.apply(plan, by: .ofCommand(), at: WallClock.system.now(), on: connection)
    if arguments.wantsJSON {
      try terminal.write(["app": .string(app), "revoked": .integer(Int64(count))])
    } else {
      try terminal.write("revoked \(name.text)\n")
    }
    return .done
  }
}
