package import HTTPClient
import HTTPServer
package import JSON
package import Signing
package import Time

/// A listening simulated App Store: its world, keys and address.
package struct RunningAppStore: Sendable {
  package struct Settings: Sendable {
    package var address = "127.0.0.1"
    /// 0 means any free port.
    package var port: UInt16 = 0
    package var pace = WorldClock.Pace.stepped
    /// Notifications in flight at the same time; with one, they arrive in their order.
    package var parallel = 1
    /// Signs receipts; `nil` creates one, which takes a second.
    package var receiptPKI: ReceiptPKI?
    /// Signs all other data; `nil` creates one.
    package var pki: KeptPKI?
    /// The API's key; `nil` creates one.
    package var apiKey: SigningKey?
    /// Whether certificates name the OCSP responder, as Apple's do.
    package var namesResponder = true

    package init() {}
  }

  package struct KeptPKI: Sendable {
    package let pki: ApplePKI
    /// The URL of the responder in them; `nil` if they name none.
    package let responder: String?

    package init(_ pki: ApplePKI, responder: String?) {
      self.pki = pki
      self.responder = responder
    }
  }

  package let store: SimulatedAppStore
  /// The URL of the responder in its certificates; `nil` if they name none.
  package let responder: String?
  private let server: HTTPServer
  private let address: String
  private let apps: [AppPlan]

  /// - Parameters:
  ///   - world: the initial world; its earlier notifications are not sent.
  ///   - clock: the machine's, by which tokens and OCSP responses are judged.
  package static func start(
    _ world: AppStoreWorld, _ settings: Settings, clock: WallClock, client: HTTPClient = HTTPClient()
  ) throws -> Self {
    var limits = HTTPServerLimits()
    limits.takesEscapedSlashes = true
    limits.connectionsPerAddress = nil
    // Faults may delay responses by ten minutes; one more for the rest.
    limits.answer = .minutes(11)
    limits.bodiesInFlight = 16 * SimulatedAppStore.bodyLimit
    let desk = DeferredHandler()
    let server = HTTPServer(
      HTTPServerConfiguration(
        address: settings.address, port: settings.port, limits: limits, stopWithin: .seconds(1)), handler: desk)
    try server.start()
    let url = url(settings.address, server.port)
    let responder = settings.namesResponder ? url : nil
    let blueprint = ApplePKI.Blueprint.covering(world.start...world.now, responder: responder)
    let pki = try pki(settings.pki, blueprint, responder, at: world.now)
    var names = SplitMix64(seed: world.seed ^ 0x6B65_7973)
    let issuer = names.uuid()
    let key = names.uuid().uppercased().filter { $0 != "-" }.prefix(10)
    let identity = SimulatedAppStore.Identity(
      chains: try SigningChains(pki, at: world.now, blueprint),
      receiptPKI: try settings.receiptPKI ?? .shared(at: world.now),
      key: DeveloperKey(issuerID: issuer, keyID: String(key), signingKey: try settings.apiKey ?? .generate()))
    var world = world
    // Earlier notifications had no receiver.
    _ = world.drainNotifications()
    let store = try SimulatedAppStore(
      world: world, identity: identity, clock: clock, pace: settings.pace, client: client,
      parallel: settings.parallel)
    desk.open(store)
    return Self(store: store, responder: responder, server: server, address: settings.address, apps: world.apps)
  }

  /// Returns the retained keys, with new certificates below the root if the responder has moved.
  private static func pki(
    _ kept: KeptPKI?, _ blueprint: ApplePKI.Blueprint, _ responder: String?, at now: Timestamp
  ) throws -> ApplePKI {
    guard let kept else { return try .generate(at: now, blueprint) }
    return kept.responder == responder ? kept.pki : try .generate(below: kept.pki.root, blueprint)
  }

  package var port: UInt16 { server.port }

  private static func url(_ address: String, _ port: UInt16) -> String {
    let host = address == "0.0.0.0" || address == "::" ? "127.0.0.1" : address
    return "http://\(host.contains(":") ? "[\(host)]" : host):\(port)"
  }

  /// The base URL of Production; the Sandbox's is below it.
  package var productionURL: String { Self.url(address, server.port) }
  package var sandboxURL: String { productionURL + "/sandbox" }
  package var controlURL: String { productionURL + "/control" }

  package func url(_ environment: AppStoreEnvironment) -> String {
    environment == .production ? productionURL : sandboxURL
  }

  package func send(_ place: SimulatedAppScope, to destination: Destination) {
    store.live.withLock { $0.destinations[place] = destination }
  }

  /// The times of first pages of each customer's history, by the machine's clock.
  package var historiesBegun: [CustomerID: [Timestamp]] { store.live.withLock { $0.historiesBegun } }

  package var now: Timestamp { store.live.withLock { $0.world.now } }

  package var world: AppStoreWorld { store.live.withLock { $0.world } }

  package func run() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await store.run() }
      group.addTask { try await server.run() }
      try await group.waitForAll()
    }
  }

  /// Returns `world.json`: the URLs, the trust settings, and the apps.
  ///
  /// - Parameter keyFile: where the API's private key was written.
  package func description(keyFile: String) -> JSONObject {
    let (world, identity) = (world, store.identity)
    var description: JSONObject = [
      "version": 1, "seed": .integer(Int64(bitPattern: world.seed)),
      "customers": .integer(Int64(world.customerCount)), "asOf": .integer(world.now.sinceEpoch),
      "baseURL": .string(url(self.apps.first?.app.environment ?? .sandbox)),
      "productionURL": .string(productionURL), "sandboxURL": .string(sandboxURL), "controlURL": .string(controlURL),
      "issuerId": .string(identity.key.issuerID), "keyId": .string(identity.key.keyID), "keyFile": .string(keyFile),
    ]
    for member in WorldPlan(apps: apps).trust(identity.chains.pki, identity.receiptPKI) {
      description[member.key] = member.value
    }
    return description
  }
}

extension ApplePKI.Blueprint {
  /// Returns contents that are valid from before a world's beginning until ten years after its present.
  ///
  /// - Parameter responder: the base URL of its OCSP responder; nil: they name none.
  package static func covering(_ time: ClosedRange<Timestamp>, responder: String?) -> Self {
    var blueprint = Self(at: time.lowerBound)
    blueprint.leaf.template.notAfter = time.upperBound + .days(3_650)
    if let responder {
      blueprint.leaf.template.ocspURL = responder + OCSPEndpoint.path("intermediate")
      blueprint.intermediate.template.ocspURL = responder + OCSPEndpoint.path("root")
    }
    return blueprint
  }
}

extension WorldPlan {
  /// Returns the trust settings and the apps for `world.json`.
  package func trust(_ pki: ApplePKI, _ receiptPKI: ReceiptPKI) -> JSONObject {
    func base64(_ certificate: CertificateAuthority) -> JSONValue {
      .string(String(decoding: Base64.standard.encode(certificate.certificate.der), as: UTF8.self))
    }
    let apps = apps.map { plan -> JSONValue in
      [
        "bundleId": .string(plan.app.bundleID), "appAppleId": .integer(plan.app.appAppleID),
        "sharedSecret": .string(plan.sharedSecret), "environment": .string(plan.app.environment.rawValue),
      ]
    }
    return ["rootDER": base64(pki.root), "receiptRootDER": base64(receiptPKI.root), "apps": .array(apps)]
  }
}
