package import HTTPClient
package import HTTPServer
import JSON
package import Signing
package import Time

/// The App Store as a server: both generations of its interfaces, its OCSP responder, and the controls of the
/// simulation.
///
/// Production is at the base path and the Sandbox below `/sandbox`, with the same paths each. Tokens are checked
/// against the machine's clock; the rest uses the world's.
package final class SimulatedAppStore: HTTPHandler, Sendable {
  package struct Identity: Sendable {
    package let chains: SigningChains
    package let receiptPKI: ReceiptPKI
    package let key: DeveloperKey

    package init(chains: SigningChains, receiptPKI: ReceiptPKI, key: DeveloperKey) {
      self.chains = chains
      self.receiptPKI = receiptPKI
      self.key = key
    }
  }

  /// The largest request: receipts of thousands of purchases.
  package static let bodyLimit = 12 << 20

  let live: LiveAppStore
  package let identity: Identity
  let clock: WallClock
  private let pace: WorldClock
  private let ocsp: OCSPEndpoint
  let sender: NotificationSender

  /// - Parameters:
  ///   - parallel: notifications in flight at the same time; with one, they arrive in their order.
  package init(
    world: AppStoreWorld, identity: Identity, clock: WallClock, pace: WorldClock.Pace = .stepped,
    client: HTTPClient = HTTPClient(), parallel: Int = 1
  ) throws(CertificateError) {
    self.identity = identity
    self.clock = clock
    self.pace = WorldClock(pace, from: world.now, at: clock.now())
    let stranger = CertificateTemplate(
      commonName: "Stranger", notBefore: clock.now() - .days(30), notAfter: clock.now() + .days(3_650),
      isAuthority: true)
    ocsp = OCSPEndpoint(identity.chains, stranger: try .root(stranger, key: .generate(.p256)))
    let live = LiveAppStore(AppStoreState(world: world))
    self.live = live
    sender = NotificationSender(
      client: client, parallel: parallel,
      next: { live.withLock { $0.nextDelivery(signedBy: identity.chains, legacy: identity.receiptPKI) } },
      record: { attempt, delivery in
        live.withLock { $0.mailroom.record(attempt, of: delivery.shipment, to: delivery.destination) }
      })
  }

  /// Sends notifications and advances the world with the machine's time, until cancelled.
  package func run() async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.sender.run() }
      if pace.pace != .stepped { group.addTask { await self.tick() } }
    }
  }

  private func tick() async {
    while !Task.isCancelled {
      keepPace()
      sender.wake()
      // Ends early when cancelled.
      try? await Task.sleep(for: .milliseconds(250))
    }
  }

  private func keepPace() {
    guard let time = pace.worldTime(at: clock.now()) else { return }
    live.withLock { state in
      state.world.advance(to: time)
      state.collect()
    }
  }

  // MARK: Requests

  package func admit(_ head: HTTPRequestHead) -> HTTPAdmission { .admit(bodyLimit: Self.bodyLimit) }

  package func respond(to request: HTTPRequest) async -> HTTPResponse {
    keepPace()
    var (path, isSandbox) = (request.path[...], false)
    while path.hasPrefix("/sandbox/") {
      path = path.dropFirst("/sandbox".count)
      isSandbox = true
    }
    let environment = isSandbox ? AppStoreEnvironment.sandbox : .production
    if path.hasPrefix("/inApps/") { return await answerAPI(request, path: String(path), environment) }
    if path == "/verifyReceipt" { return await answerVerifyReceipt(request, environment) }
    if path.hasPrefix("/ocsp/") { return await answerOCSP(request) }
    if path.hasPrefix("/control/") { return await answerControl(request, path: String(path)) }
    return HTTPResponse(status: 404)
  }

  private func answerAPI(
    _ request: HTTPRequest, path: String, _ environment: AppStoreEnvironment
  ) async -> HTTPResponse {
    guard let (operation, parameters) = APIOperation.find(method: request.method, path: path) else {
      return HTTPResponse(status: 404)
    }
    let now = clock.now()
    guard let bundleID = try? identity.key.bundleID(authorized: request.headers["Authorization"], at: now) else {
      return SimulatedAPIResponse.unauthorized
    }
    let struck = FaultPlan.Call(.api, operation: operation.name, bundleID: bundleID)
    let (answer, faults) = live.withLock { state -> (HTTPResponse, [Fault]) in
      let faults = state.faults.strike(struck, at: now)
      if let other = FaultyResponse.replacement(faults, at: now) { return (other, faults) }
      let call = APICall(
        operation: operation, parameters: parameters, request: request,
        place: SimulatedAppScope(bundleID: bundleID, environment: environment),
        signer: ResponseSigner(identity.chains, faults, at: state.world.now), receivedAt: now)
      return (state.answer(call), faults)
    }
    sender.wake()
    return await FaultyResponse.arrival(of: answer, faults)
  }

  private func answerOCSP(_ request: HTTPRequest) async -> HTTPResponse {
    let now = clock.now()
    let faults = live.withLock { $0.faults.strike(FaultPlan.Call(.ocsp), at: now) }
    let answer = FaultyResponse.replacement(faults, at: now) ?? ocsp.answer(request, faults, at: now)
    return await FaultyResponse.arrival(of: answer, faults)
  }
}
