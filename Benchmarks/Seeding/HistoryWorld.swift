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
  private static let start = Timestamp(1_704_067_200_000)

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

  /// An answer of the simulator's, and by which targets it may be asked for.
  struct Answer {
    enum Kind { case history, statuses }

    let kind: Kind
    let body: [UInt8]
    let targets: [String]

    /// The JWS in it, wherever they stand.
    func jws() throws -> [[UInt8]] {
      func strings(_ value: JSONValue) -> [String] {
        switch value {
        case .string(let text): text.utf8.count > 200 ? [text] : []
        case .array(let elements): elements.flatMap(strings)
        case .object(let object): object.flatMap { strings($0.value) }
        case .null, .bool, .integer, .number: []
        }
      }
      return try strings(JSONReader.read(body, limits: JSONLimits(bytes: body.count, depth: 8))).map { Array($0.utf8) }
    }
  }

  /// Every answer about these customers: the pages of each one's history, then the statuses.
  func answers(_ customers: HistoryCustomers, _ take: (Answer) throws -> Void) async throws {
    let token = try store.identity.key.token(for: customers.shape.bundleID, at: WallClock.system.now())
    func answer(_ kind: Answer.Kind, _ targets: [String]) async throws -> Answer {
      let path = String(targets[0].prefix { $0 != "?" })
      let head = HTTPRequestHead(
        method: "GET", path: path, rawTarget: targets[0], headers: ["Authorization": "Bearer \(token)"])
      let response = await store.respond(to: HTTPRequest(head: head))
      guard response.status == 200 else {
        throw BenchmarkError("the simulator answers \(response.status) to \(targets[0])")
      }
      return Answer(kind: kind, body: response.body, targets: targets)
    }
    for originals in customers.originals {
      var revision: String?
      repeat {
        let calls = originals.map { APIRequest.transactionHistory(of: $0, revision: revision) }
        let page = try await answer(.history, try calls.map { "/sandbox\(try $0.target())" })
        try take(page)
        let limits = JSONLimits(bytes: page.body.count, depth: 8)
        guard let object = try JSONReader.read(page.body, limits: limits).object else { break }
        revision = object["hasMore"] == true ? object["revision"]?.string : nil
      } while revision != nil
      try take(
        try await answer(
          .statuses, try originals.map { "/sandbox\(try APIRequest.subscriptionStatuses(of: $0).target())" }))
    }
  }

  /// Writes every answer about these customers; the JWS of the first few thousand transactions in them.
  func answers(_ customers: HistoryCustomers, to file: inout FinishedAnswers.Writer) async throws -> [[UInt8]] {
    var jws: [[UInt8]] = []
    try await answers(customers) { answer in
      try file.add(answer.body, for: answer.targets)
      if answer.kind == .history, jws.count < 2_000 { jws += try answer.jws() }
    }
    return jws
  }
}
