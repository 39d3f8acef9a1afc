import HTTPServer
import Operations
import Runtime
import Service
import Signing
import Time

struct ServeOptions: Sendable {
  static let options: [Option] = [
    .value(
      "listen", "ADDRESS:PORT", default: "127.0.0.1:8080", environment: "SWITCHYARD_LISTEN",
      "Where to listen; port 0 picks a free one. [::]:8080 accepts IPv4 and IPv6."),
    .value(
      "metrics-listen", "ADDRESS:PORT",
      "Serve /metrics, /livez and /readyz here too, in plain HTTP. Without it, /metrics is served on loopback only. "
        + "`serve` warns of an address that other machines reach."),
    .value("tls-certificate-file", "FILE", "Serve TLS 1.2 and 1.3 with this certificate chain (PEM)."),
    .value("tls-key-file", "FILE", "The certificate's private key (PEM)."),
    .value(
      "allow-from", "NETWORK", repeats: true,
      "Take notifications from these addresses only: `apple` (those of --apple-networks), `anywhere`, 192.0.2.0/24, …"),
    .value(
      "apple-networks", "NETWORK", repeats: true,
      "The addresses that have Apple's share of connections and memory. Default: 17.0.0.0/8."),
    .value(
      "back-end-networks", "NETWORK", repeats: true,
      "Your own back ends: they have their own share, and no limit for each address."),
    .value(
      "trusted-proxy", "NETWORK", repeats: true, "Believe X-Forwarded-For only from these addresses."),
    .value(
      "client-certificate-header", "NAME",
      "The header in which a --trusted-proxy names the certificate of a client that it authenticated: see "
        + "`app token --certificate`."),
    .value(
      "connections", "N", default: "1024", "Open connections at most; more are answered 503."),
    .value(
      "connections-per-address", "N",
      "Open connections from one address at most, 0: no limit. 256; no limit with --trusted-proxy or on loopback."),
    .value(
      "bodies-in-flight", "MIB", default: "64",
      "Memory that the bodies of all requests and their answers together may hold; more are answered 503."),
    .value(
      "claimed-stock", "MIB", default: "256",
      "How much is kept in a day of the V1 notifications of an app that have its shared secret and do not come from Apple's "
        + "networks; more are answered 429."),
    .value(
      "verify-receipt-url", "URL", default: VerifyReceiptUpstream().production,
      environment: "SWITCHYARD_VERIFY_RECEIPT_URL", "Where calls of /verifyReceipt are passed on to."),
    .value(
      "verify-receipt-sandbox-url", "URL", default: VerifyReceiptUpstream().sandbox,
      environment: "SWITCHYARD_VERIFY_RECEIPT_SANDBOX_URL", "Where calls of /sandbox/verifyReceipt are passed on to."),
    .value(
      "answer-cache", "TIME", default: "30s",
      "Repeat Switchyard's answer to callers that send the same receipt, 0: never. Not after news about the customer."),
    .value(
      "alert-webhook", "URL", environment: "SWITCHYARD_ALERT_WEBHOOK",
      "Post a JSON object to this URL when the guard takes an app back to shadow: https, or http on this machine. It is "
        + "retried for up to 15 minutes. Use the environment variable if the URL is secret."),
    RevocationOption.option,
    .value(
      "log-level", "LEVEL", choices: Logger.Level.allCases.map(\.rawValue), default: Logger.Level.info.rawValue,
      environment: "SWITCHYARD_LOG_LEVEL", "The least important lines that are written."),
  ]

  var settings: Application.Settings
  let logLevel: Logger.Level

  init(_ arguments: ParsedArguments) throws {
    let (address, port) = try Self.endpoint("listen", arguments.required("listen"), arguments)
    var http = HTTPServerConfiguration(address: address, port: port, tls: try Self.tls(arguments))
    if let connections = try arguments.integer("connections", in: 1...65_536) { http.limits.connections = connections }
    if let bodies = try arguments.integer("bodies-in-flight", in: 1...65_536) {
      http.limits.bodiesInFlight = bodies << 20
    }
    let proxies = try arguments.values("trusted-proxy").map { try Self.network($0, "trusted-proxy", arguments) }
    if let most = try arguments.integer("connections-per-address", in: 0...65_536) {
      http.limits.connectionsPerAddress = most == 0 ? nil : most
    } else if !proxies.isEmpty || Self.isLoopback(address) {
      // Behind a proxy, all connections come from its address.
      http.limits.connectionsPerAddress = nil
    }
    var callers = CallerClassifier()
    let apple = try arguments.values("apple-networks").map { try Self.network($0, "apple-networks", arguments) }
    if !apple.isEmpty { callers.apple = apple }
    callers.backEnds = try arguments.values("back-end-networks")
      .map { try Self.network($0, "back-end-networks", arguments) }
    callers.proxies = proxies
    callers.certificateHeader = arguments.value("client-certificate-header")
    if callers.certificateHeader != nil, proxies.isEmpty {
      throw UsageError(
        .missingArgument,
        "--client-certificate-header needs --trusted-proxy: other senders could name a certificate in it.",
        path: arguments.path)
    }
    if http.limits.connectionsPerAddress != nil { http.limits.connectionRate = Rate(burst: 256, perSecond: 32) }
    var settings = Application.Settings(http: http)
    settings.name = ProcessEnvironment.name
    settings.callers = callers
    settings.junk.exempt = callers.apple
    settings.claims.exempt = callers.apple + callers.backEnds
    if let stock = try arguments.integer("claimed-stock", in: 1...1_048_576) { settings.claimedStock = stock << 20 }
    // Metrics name the apps and their traffic.
    settings.showsMetrics = Self.isLoopback(address)
    if let text = arguments.value("metrics-listen") {
      let (address, port) = try Self.endpoint("metrics-listen", text, arguments)
      settings.metricsListener = HTTPServerConfiguration(address: address, port: port, threads: 1)
    }
    settings.sources = IPAllowlist(
      networks: try Self.sources(arguments, callers, address: address), proxies: proxies)
    if let time = try arguments.duration("answer-cache", in: .seconds(0)...(.hours(1)), bare: .seconds(1)) {
      settings.answersKept = time
    }
    settings.verifyReceipt.production = try Self.url("verify-receipt-url", arguments)
    settings.verifyReceipt.sandbox = try Self.url("verify-receipt-sandbox-url", arguments)
    settings.guardWebhook = try Self.webhook(arguments)
    settings.revocations = try RevocationOption.revocations(arguments)
    self.settings = settings
    logLevel = try arguments.choice("log-level") ?? .info
  }

  /// Logs a warning for options that expose data to others.
  func warn(_ logger: Logger) {
    guard let address = settings.metricsListener?.address, !Self.isLoopback(address) else { return }
    logger.warning(
      "metrics are served to other machines in plain HTTP: they name the apps; let a firewall admit your monitoring only",
      metadata: ["option": "--metrics-listen", "address": "\(address)"])
  }

  /// `ADDRESS:PORT`, `[ADDRESS]:PORT`.
  private static func endpoint(
    _ option: String, _ text: String, _ arguments: ParsedArguments
  ) throws -> (address: String, port: UInt16) {
    guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
      throw UsageError(.invalidValue, "--\(option) takes ADDRESS:PORT, as 127.0.0.1:8080.", path: arguments.path)
    }
    let address = text[..<colon].filter { $0 != "[" && $0 != "]" }
    return (address.isEmpty ? "127.0.0.1" : String(address), port)
  }

  private static func isLoopback(_ address: String) -> Bool { address == "::1" || address.hasPrefix("127.") }

  private static func url(_ option: String, _ arguments: ParsedArguments) throws -> String {
    let url = try arguments.required(option)
    guard url.hasPrefix("https://") || url.hasPrefix("http://"), url.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
      !url.contains("@")
    else {
      throw UsageError(
        .invalidValue, "--\(option) takes a URL as \(VerifyReceiptUpstream().production).", path: arguments.path)
    }
    return url
  }

  /// The message omits the URL, which may be secret.
  private static func webhook(_ arguments: ParsedArguments) throws(UsageError) -> GuardWebhook.Settings? {
    guard let url = arguments.value("alert-webhook") else { return nil }
    guard BackEndURL.isUsable(url), !BackEndURL.isReadableByOthers(url) else {
      throw UsageError(
        .invalidValue,
        "--alert-webhook takes an https URL without user or password, or an http URL of this machine.",
        path: arguments.path)
    }
    return GuardWebhook.Settings(url: url)
  }

  private static func tls(_ arguments: ParsedArguments) throws -> HTTPServerTLS? {
    switch (arguments.value("tls-certificate-file"), arguments.value("tls-key-file")) {
    case (let certificate?, let key?): return HTTPServerTLS(certificateFile: certificate, keyFile: key)
    case (nil, nil): return nil
    case (_?, nil), (nil, _?):
      throw UsageError(.missingOption, "Give --tls-certificate-file and --tls-key-file together.", path: arguments.path)
    }
  }

  /// Returns the accepted senders of notifications.
  ///
  /// The default is only Apple if other machines can connect.
  private static func sources(
    _ arguments: ParsedArguments, _ callers: CallerClassifier, address: String
  ) throws -> [Network] {
    let names = arguments.values("allow-from")
    if names.contains("anywhere") { return [] }
    if names.isEmpty { return isLoopback(address) ? [] : callers.apple }
    return try names.flatMap { $0 == "apple" ? callers.apple : [try network($0, "allow-from", arguments)] }
  }

  private static func network(_ text: String, _ option: String, _ arguments: ParsedArguments) throws -> Network {
    if text == "apple", let network = IPAllowlist.apple.first { return network }
    guard let network = Network(text) else {
      let names = option == "allow-from" ? "`apple`, `anywhere`" : "`apple`"
      throw UsageError(
        .invalidValue, "--\(option) takes \(names) or an address range as 192.0.2.0/24.", path: arguments.path)
    }
    return network
  }
}
