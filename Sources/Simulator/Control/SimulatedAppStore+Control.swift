import HTTPServer
import JSON
import Signing
import Time

/// `/control/…`: the interface by which a person or a test controls and reads the simulation.
extension SimulatedAppStore {
  func answerControl(_ request: HTTPRequest, path: String) async -> HTTPResponse {
    let parts = path.split(separator: "/").dropFirst().map(String.init)
    do throws(ControlError) { return try await control(request, parts) } catch { return error.response }
  }

  private func control(_ request: HTTPRequest, _ parts: [String]) async throws(ControlError) -> HTTPResponse {
    let body = try ControlBody(request.body)
    switch (request.method, parts.first ?? "", parts.count) {
    case ("GET", "world", 1): return Self.json(live.withLock { $0.summary })
    case ("POST", "advance", 1): return try await advance(body)
    case ("POST", "act", 1): return try await act(body)
    case ("POST", "customers", 1): return try enrol(body)
    case ("GET", "customers", 1): return try list(request)
    case ("GET", "customers", 2): return Self.json(try customer(parts[1]).json)
    case ("GET", "customers", 3) where parts[2] == "receipt": return try receipt(of: parts[1], request)
    case ("GET", "truth", 1): return truth(v1Only: request.queryValue("v1Only") == "true")
    case ("GET", "faults", 1): return Self.json(live.withLock { $0.faultList })
    case ("POST", "faults", 1): return try addFault(body)
    case ("DELETE", "faults", 1):
      live.withLock { $0.faults.removeAll() }
      return Self.json(live.withLock { $0.faultList })
    case ("DELETE", "faults", 2):
      guard let number = Int(parts[1]), live.withLock({ $0.faults.remove(number) }) else {
        throw ControlError(.notFound, "no fault \(parts[1])")
      }
      return Self.json(live.withLock { $0.faultList })
    case ("GET", "destinations", 1): return Self.json(live.withLock { $0.destinationList })
    case ("PUT", "destinations", 1), ("DELETE", "destinations", 1): return try direct(body, request.method == "PUT")
    case ("GET", "notifications", 1): return try notifications(request)
    case ("GET", "consumption", 1): return Self.json(live.withLock { $0.consumptionList })
    case ("GET", _, _), ("POST", _, _), ("PUT", _, _), ("DELETE", _, _):
      throw ControlError(.notFound, "no \(request.method) /control/\(parts.joined(separator: "/"))")
    default: throw ControlError(.methodNotAllowed, "\(request.method) is not known here")
    }
  }

  static func json(_ object: JSONObject) -> HTTPResponse { .json(200, object.encoded()) }

  // MARK: Time and acts

  /// The longest advance in milliseconds: a hundred years.
  private static let longest: Int64 = 36_525 * 86_400_000

  private func advance(_ body: ControlBody) async throws(ControlError) -> HTTPResponse {
    let by = try body.number("milliseconds", in: 0...Self.longest) ?? 0
    let days = try body.number("days", in: 0...36_525) ?? 0
    let to = try body.number("to", in: 0...(4 * Self.longest))
    guard to != nil || body.has("milliseconds") || body.has("days") else {
      throw ControlError(.missingValue, "days, milliseconds or to (milliseconds since 1970) is missing")
    }
    live.withLock { state in
      state.world.advance(to: to.map { Timestamp($0) } ?? state.world.now + .milliseconds(by) + .days(days))
      state.collect()
    }
    let summary = await sender.sendDue()
    return Self.json(
      live.withLock { state -> JSONObject in
        [
          "now": .integer(state.world.now.sinceEpoch), "sent": .integer(Int64(summary.sent)),
          "delivered": .integer(Int64(summary.delivered)), "waiting": .integer(Int64(state.mailroom.waiting)),
        ]
      })
  }

  private func act(_ body: ControlBody) async throws(ControlError) -> HTTPResponse {
    let act = try ManualAction(body)
    let customer = try named(by: body)
    let result = live.withLock { state -> Result<[String], ManualActionError> in
      let result = Result { () throws(ManualActionError) in try state.world.act(act, on: customer) }
      state.collect()
      return result
    }
    switch result {
    case .success(let transactions):
      sender.wake()
      return Self.json([
        "customer": .string("\(customer)"), "transactions": .array(transactions.map(JSONValue.string)),
      ])
    case .failure(let refusal): throw ControlError(.refused, "\(refusal.code.rawValue): \(refusal.detail)")
    }
  }

  /// Finds the customer by `customer`, or by a `transactionId` with `bundleId` and `environment`.
  private func named(by body: ControlBody) throws(ControlError) -> CustomerID {
    if let text = try body.optionalText("customer") { return try known(text) }
    let (bundleID, environment) = (try body.text("bundleId"), try body.environment())
    let id = try body.text("transactionId")
    let found = live.withLock {
      $0.world.customer(ofAnyTransactionID: id, app: bundleID, environment: environment)
    }
    guard let found else { throw ControlError(.notFound, "no customer has a transaction \(id)") }
    return found
  }

  private func known(_ text: String) throws(ControlError) -> CustomerID {
    guard let id = CustomerID(text), live.withLock({ $0.world.contains(id) }) else {
      throw ControlError(.notFound, "no customer \(text); customers are named as 12.0")
    }
    return id
  }

  // MARK: Customers

  private func enrol(_ body: ControlBody) throws(ControlError) -> HTTPResponse {
    let (bundleID, environment) = (try body.text("bundleId"), try body.environment())
    let code = try body.optionalText("storefront")
    guard let storefront = code.map({ code in Storefront.all.first { $0.code == code } }) ?? .unitedStates else {
      throw ControlError(.invalidValue, "storefront is one of \(Storefront.all.map(\.code).joined(separator: ", "))")
    }
    let hasToken = try body.flag("hasAccountToken") ?? true
    let usesStoreKit1 = try body.flag("usesStoreKit1") ?? false
    let ordered = try body.number("preorderDate", in: 0...(4 * Self.longest)).map { Timestamp($0) }
    let ends = try body.number("licenceExpirationDate", in: 0...(4 * Self.longest)).map { Timestamp($0) }
    let organisation = try body.optionalText("organisation")
    guard (ends == nil) == (organisation == nil) else {
      // plain:ok, names of members
      throw ControlError(.missingValue, "organisation and licenceExpirationDate come together")
    }
    let licence = ends.map { VolumeLicence(of: organisation ?? "", until: $0) }
    let relative: CustomerID? = if let text = try body.optionalText("relative") { try known(text) } else { nil }
    let result = live.withLock { state in
      Result { () throws(AppStoreWorld.EnrolmentError) in
        try state.world.enrol(
          in: bundleID, environment: environment, storefront: storefront, hasAccountToken: hasToken,
          usesStoreKit1: usesStoreKit1, preorderedAt: ordered, licence: licence, joining: relative)
      }
    }
    switch result {
    case .success(let id): return Self.json(try customer("\(id)").json)
    case .failure(.unknownApp): throw ControlError(.notFound, "no app \(bundleID)")
    case .failure(.unknownRelative): throw ControlError(.notFound, "relatives are of one app and environment")
    case .failure(.full): throw ControlError(.tooMany, "a family of six, or a world of a million households")
    }
  }

  func customer(_ text: String) throws(ControlError) -> CustomerState {
    let id = try known(text)
    return live.withLock { $0.world.state(of: id) }
  }

  private func list(_ request: HTTPRequest) throws(ControlError) -> HTTPResponse {
    let bundleID = request.queryValue("bundleId")
    let skip = request.queryValue("skip").flatMap { Int($0) } ?? 0
    let limit = request.queryValue("limit").flatMap { Int($0) } ?? 100
    guard skip >= 0, (1...1_000).contains(limit) else {
      throw ControlError(.invalidValue, "skip is not below 0, limit 1 to 1000")
    }
    let page = live.withLock { state in
      state.world.customers(of: bundleID).dropFirst(skip).prefix(limit).map { state.world.state(of: $0).json }
    }
    let count = live.withLock { $0.world.customerCount }
    return Self.json(["customers": .array(page.map(JSONValue.object)), "count": .integer(Int64(count))])
  }

  /// Returns the customer's device receipt in base64; an iOS 6 receipt if the query has `transactionId`.
  private func receipt(of text: String, _ request: HTTPRequest) throws(ControlError) -> HTTPResponse {
    let state = try customer(text)
    let pki = identity.receiptPKI
    do {
      guard let id = request.queryValue("transactionId") else {
        return .text(200, String(decoding: try state.receipt.encoded(signedBy: pki), as: UTF8.self))
      }
      guard let purchase = state.legacyPurchases.first(where: { $0.transactionID == id }) else {
        throw ControlError(.notFound, "no purchase \(id) in the receipt")
      }
      let receipt = try SimulatedTransactionReceipt(purchase).encoded(signedBy: pki.transactionSigner)
      return .text(200, String(decoding: receipt, as: UTF8.self))
    } catch let error as ControlError {
      throw error
    } catch {
      throw ControlError(.refused, "the receipt cannot be signed: \(error)")
    }
  }

  private func truth(v1Only: Bool) -> HTTPResponse {
    let world = live.withLock { $0.world }
    var lines: [UInt8] = []
    for line in world.truth(v1Only: v1Only) { lines += line.encoded() + [0x0A] }
    return HTTPResponse(status: 200, headers: ["Content-Type": "application/jsonl"], body: lines)
  }

  // MARK: Faults and destinations

  private func addFault(_ body: ControlBody) throws(ControlError) -> HTTPResponse {
    let rule: FaultRule
    do throws(FaultRule.Mistake) { rule = try FaultRule(body.json) } catch {
      throw ControlError(.invalidValue, error.description)
    }
    guard live.withLock({ $0.faults.add(rule) }) != nil else {
      throw ControlError(.tooMany, "\(FaultPlan.limit) faults are in force; remove some")
    }
    return Self.json(live.withLock { $0.faultList })
  }

  private func direct(_ body: ControlBody, _ isNew: Bool) throws(ControlError) -> HTTPResponse {
    let place = SimulatedAppScope(bundleID: try body.text("bundleId"), environment: try body.environment())
    guard live.withLock({ $0.app(place) }) != nil else { throw ControlError(.notFound, "no app \(place.bundleID)") }
    var destination: Destination?
    if isNew {
      let url = try body.text("url")
      guard url.hasPrefix("http://") || url.hasPrefix("https://") else {
        throw ControlError(.invalidValue, "url begins with http:// or https://")
      }
      let version = try body.number("version", in: 1...2).flatMap(NotificationVersion.init) ?? .v2
      var made = Destination(url: url, version: version)
      made.stopsAfter400 = try body.flag("stopsAfter400") ?? false
      destination = made
    }
    live.withLock { [destination] in $0.destinations[place] = destination }
    return Self.json(live.withLock { $0.destinationList })
  }

  private func notifications(_ request: HTTPRequest) throws(ControlError) -> HTTPResponse {
    let state = request.queryValue("state")
    guard state == nil || QueuedNotification.State.words.contains(state ?? "") else {
      throw ControlError(.invalidValue, "state is one of \(QueuedNotification.State.words.joined(separator: ", "))")
    }
    let skip = request.queryValue("skip").flatMap { Int($0) } ?? 0
    let limit = request.queryValue("limit").flatMap { Int($0) } ?? 100
    guard skip >= 0, (1...10_000).contains(limit) else {
      throw ControlError(.invalidValue, "skip is not below 0, limit 1 to 10000")
    }
    let list = live.withLock { $0.notificationList(state: state, skip: skip, limit: limit) }
    return Self.json(list)
  }
}
