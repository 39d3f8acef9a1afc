import HTTPServer
import JSON
import Signing
import Time

/// Request a Test Notification, and Get Notification History.
extension AppStoreState {
  mutating func requestTest(_ call: APICall) throws(APIErrorCode) -> HTTPResponse {
    guard let app = app(call.place), let destination = destinations[call.place], destination.version == .v2 else {
      throw .serverNotificationUrlNotFound
    }
    let id = uuid()
    let token = "\(id)_\(world.now.sinceEpoch)"
    tests[token] = mailroom.accept(
      QueuedNotification(.test(of: app, at: world.now, uuid: id), testToken: token))
    return call.answer(["testNotificationToken": .string(token)])
  }

  func testStatus(_ call: APICall) throws(APIErrorCode) -> HTTPResponse {
    let token = call.parameters[0]
    let parts = token.split(separator: "_")
    guard parts.count == 2, Self.isUUID(String(parts[0])), Self.isID(String(parts[1])) else {
      throw .invalidTestNotificationToken
    }
    guard let number = tests[token], mailroom[number].place == call.place else { throw .testNotificationNotFound }
    return call.answer(try item(number, call))
  }

  // MARK: History

  private static let pageLimit = 20
  /// Apple's history length.
  private static let length = Interval.days(180)

  func notificationHistory(_ call: APICall) throws(APIErrorCode) -> HTTPResponse {
    let body = try call.object()
    guard let start = body["startDate"]?.milliseconds else { throw .invalidStartDate }
    guard let end = body["endDate"]?.milliseconds else { throw .invalidEndDate }
    guard start < end else { throw .startDateAfterEndDate }
    guard start >= world.now - Self.length else { throw .startDateTooFarInPast }
    let (type, subtype) = (body["notificationType"]?.string, body["notificationSubtype"]?.string)
    if let type, type.isEmpty || !type.utf8.allSatisfy({ (0x41...0x5A).contains($0) || $0 == 0x5F }) {
      throw .invalidNotificationType
    }
    if subtype != nil, type == nil { throw .invalidNotificationType }
    let transaction = body["transactionId"]?.string
    guard type == nil || transaction == nil else { throw .multipleFiltersSupplied }
    let customer: CustomerID? = if let transaction { try self.customer(call, transaction) } else { nil }
    let onlyFailures = body["onlyFailures"]?.bool ?? false
    // The token encodes the next position and the identity of the list.
    let list = Digest.sha256(JSONValue.object(body).canonicallyEncoded()).hex.prefix(16)
    var first = 0
    if let token = call.request.queryValue("paginationToken"), !token.isEmpty {
      let parts = token.split(separator: "_")
      guard parts.count == 2, parts[1] == list, let place = Int(parts[0]), place >= 0 else {
        throw .invalidPaginationToken
      }
      first = place
    }
    var (items, next): ([JSONValue], Int?) = ([], nil)
    for number in mailroom.shipments.indices.dropFirst(first) {
      let shipment = mailroom[number]
      guard shipment.place == call.place, shipment.version == .v2, let sent = shipment.attempts.first?.date,
        start <= sent, sent < end, !onlyFailures || shipment.state != .delivered,
        customer == nil || shipment.customer == customer
      else { continue }
      if let type {
        guard let title = shipment.title, title.type == type, subtype == nil || title.subtype == subtype else {
          continue
        }
      }
      guard items.count < Self.pageLimit else {
        next = number
        break
      }
      items.append(.object(try item(number, call)))
    }
    var answer = PayloadMembers()
    answer.add("paginationToken", next.map { "\($0)_\(list)" })
    answer.add("hasMore", next != nil)
    answer.add("notificationHistory", .array(items))
    return call.answer(answer.object)
  }

  private func item(_ number: Int, _ call: APICall) throws(APIErrorCode) -> JSONObject {
    let shipment = mailroom[number]
    var item = PayloadMembers()
    item.add("signedPayload", try signedPayload(shipment, call))
    item.add("sendAttempts", .array(shipment.attempts.map { .object($0.json) }))
    return item.object
  }

  /// Returns the bytes that were sent while they are retained; otherwise signs them again.
  private func signedPayload(_ shipment: QueuedNotification, _ call: APICall) throws(APIErrorCode) -> String {
    if let body = shipment.body, let sent = (try? JSONReader.read(body))?.object?["signedPayload"]?.string {
      return sent
    }
    guard let draft = draft(of: shipment) else { throw .generalInternal }
    do {
      let jws = try call.signer.sign(draft.payload(signedBy: call.signer.signer))
      return String(decoding: jws, as: UTF8.self)
    } catch {
      throw .generalInternal
    }
  }
}
