import AppStore
import HTTPServer
import JSON
import Runtime
import Signing
import Simulator
import Time

/// A simulated App Store with customers of the two shapes, asked once for everything that will be asked of it.
struct HistoryWorld {
  let hundred: HistoryCustomers
  let five: HistoryCustomers
  let store: SimulatedAppStore

  /// 2024-01-01T00:00:00Z.
  private static let start = Milliseconds(1_704_067_200_000)

  init(hundred: Int, five: Int) throws {
    let plan = WorldPlan(apps: [HistoryShape.hundred.plan, HistoryShape.five.plan])
    var world = AppStoreWorld(plan: plan, seed: 11, start: Self.start)
    try Self.enrol(hundred, .hundred, in: &world)
    world.advance(by: .days(7 * 97 - 62))
    try Self.enrol(five, .five, in: &world)
    world.advance(by: .days(63))
    self.hundred = try HistoryCustomers(.hundred, in: world)
    self.five = try HistoryCustomers(.five, in: world)
    var settings = RunningAppStore.Settings()
    settings.namesResponder = false
    store = try RunningAppStore.start(world, settings, clock: .system).store
  }

  private static func enrol(_ count: Int, _ shape: HistoryShape, in world: inout AppStoreWorld) throws {
    for _ in 0..<count {
      let customer = try world.enrol(in: shape.bundleID, environment: .sandbox)
      for product in [shape.subscription, "archive", "coins.100"] {
        try world.act(.buy(product: product), on: customer)
      }
    }
  }

  var root: [UInt8] { store.identity.chains.pki.root.certificate.der }
  var leaf: [UInt8] { store.identity.chains.pki.leaf.certificate.der }

  /// Every answer about these customers; the JWS of the first few thousand transactions in them.
  func answers(_ customers: HistoryCustomers, to file: inout FinishedAnswers.Writer) async throws -> [[UInt8]] {
    var jws: [[UInt8]] = []
    let token = try store.identity.key.token(for: customers.shape.bundleID, at: WallClock.system.now())
    func answer(_ target: String) async throws -> [UInt8] {
      let path = String(target.prefix { $0 != "?" })
      let head = HTTPRequestHead(
        method: "GET", path: path, rawTarget: target, headers: ["Authorization": "Bearer \(token)"])
      let response = await store.respond(to: HTTPRequest(head: head))
      guard response.status == 200 else {
        throw BenchmarkError("the simulator answers \(response.status) to \(target)")
      }
      return response.body
    }
    for originals in customers.originals {
      var revision: String?
      repeat {
        let calls = originals.map { Call.transactionHistory(of: $0, revision: revision) }
        let targets = try calls.map { "/sandbox\(try $0.target())" }
        let body = try await answer(targets[0])
        try file.add(body, for: targets)
        guard let page = try JSONReader.read(body, limits: JSONLimits(bytes: body.count, depth: 8)).object else {
          break
        }
        if jws.count < 2_000 {
          jws += (page["signedTransactions"]?.array ?? []).compactMap { $0.string.map { Array($0.utf8) } }
        }
        revision = page["hasMore"] == true ? page["revision"]?.string : nil
      } while revision != nil
      let targets = try originals.map { "/sandbox\(try Call.subscriptionStatuses(of: $0).target())" }
      try file.add(try await answer(targets[0]), for: targets)
    }
    return jws
  }
}
