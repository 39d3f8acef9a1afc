/// The app on its customers' devices, and its old back end: what they hand to the service, until it is taken.
///
/// Whoever bought something hands it in, as apps do before they finish a transaction; some do at other times too.
struct AppClients: Sendable {
  let url: String
  let token: String
  let secret: String
  let client: HTTPClient
  let signer: PayloadSigner
  let receiptPKI: ReceiptPKI
  /// How many purchases of each customer were taken.
  private var taken: [CustomerID: Int] = [:]

  init(
    url: String, token: String, secret: String, client: HTTPClient, signer: PayloadSigner, receiptPKI: ReceiptPKI
  ) {
    (self.url, self.token, self.secret) = (url, token, secret)
    (self.client, self.signer, self.receiptPKI) = (client, signer, receiptPKI)
  }

  /// In a thousand: how many open the app without having bought anything.
  private static let opens: UInt64 = 30

  /// Everybody who has something to hand in does, eight at once; how many were not heard.
  ///
  /// - Parameter isNew: whether there is a version of the app with signed transactions, for those who can run it.
  mutating func open(_ world: AppStoreWorld, isNew: Bool, chance: inout some RandomNumberGenerator) async -> Int {
    var waiting: [(state: CustomerState, requests: [ClientRequest])] = []
    for id in world.customers() {
      let opens = UInt64.random(in: 0..<1_000, using: &chance) < Self.opens
      let state = world.state(of: id)
      guard state.purchases.count > taken[id] ?? 0 || (opens && !state.purchases.isEmpty) else { continue }
      guard let requests = try? requests(state, isNew: isNew) else { continue }
      waiting.append((state, requests))
    }
    let (client, count) = (client, waiting.count)
    let heard = await withTaskGroup(of: [(CustomerID, Int)].self) { group in
      for lane in 0..<8 {
        let share = stride(from: lane, to: count, by: 8).map { waiting[$0] }
        group.addTask {
          var heard: [(CustomerID, Int)] = []
          for (state, requests) in share {
            var isTaken = true
            for request in requests where isTaken { isTaken = await Self.isTaken(request, client) }
            if isTaken { heard.append((state.id, state.purchases.count)) }
          }
          return heard
        }
      }
      return await group.reduce(into: []) { $0 += $1 }
    }
    for (id, purchases) in heard { taken[id] = purchases }
    return count - heard.count
  }

  private func requests(_ state: CustomerState, isNew: Bool) throws -> [ClientRequest] {
    guard let last = state.purchases.last else { return [] }
    let authorization = [(name: "Authorization", value: "Bearer \(token)")]
    func evidence(_ body: [UInt8]) -> ClientRequest {
      ClientRequest(
        method: "POST", url: "\(url)/v1/evidence?environment=\(state.app.environment.rawValue)", headers: authorization,
        body: body, deadline: .seconds(60))
    }
    if isNew, !state.usesStoreKit1 {
      return [evidence(try signer.sign(last.transaction.payload(signedAt: state.date)))]
    }
    let receipt: JSONObject = [
      "receipt-data": .string(String(decoding: try state.receipt.encoded(signedBy: receiptPKI), as: UTF8.self)),
      "password": .string(secret),
    ]
    let asked = ClientRequest(
      method: "POST", url: url + "/verifyReceipt", body: receipt.encoded(), deadline: .seconds(60))
    // A consumable that the app was done with is in no receipt any more; the back end that sold it has its id.
    let isGone = last.transaction.product.kind == .consumable && last.isFinished
    let id: JSONObject = ["transactionId": .string(last.transaction.transactionID)]
    return [asked] + (isGone ? [evidence(id.encoded())] : [])
  }

  /// Whether an app has it behind it: else it hands it in again.
  private static func isTaken(_ request: ClientRequest, _ client: HTTPClient) async -> Bool {
    guard let answer = try? await client.send(request), answer.status == 200,
      let object = try? JSONReader.read(answer.body).object
    else { return false }
    guard request.url.hasSuffix("/verifyReceipt") else { return true }
    return object["status"]?.integer == 0
  }
}
