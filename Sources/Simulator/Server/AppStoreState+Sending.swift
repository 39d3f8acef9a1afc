import JSON
import Signing
import Time

extension AppStoreState {
  /// Returns the next due delivery; `nil` without one.
  ///
  /// - Parameters:
  ///   - legacy: signs the receipts in V1's bodies.
  mutating func nextDelivery(signedBy chains: SigningChains, legacy: ReceiptPKI) -> NotificationDelivery? {
    while let turn = mailroom.take(dueBy: world.now) {
      if let delivery = prepare(turn.number, at: turn.date, chains, legacy) { return delivery }
    }
    return nil
  }

  /// Returns `nil` if it is not sent, or not now.
  private mutating func prepare(
    _ number: Int, at date: Timestamp, _ chains: SigningChains, _ legacy: ReceiptPKI
  ) -> NotificationDelivery? {
    let shipment = mailroom[number]
    guard let destination = destinations[shipment.place] else {
      mailroom.settle(number, .withoutDestination)
      return nil
    }
    let call = FaultPlan.Call(
      .notifications, operation: shipment.title?.type ?? "", bundleID: shipment.place.bundleID)
    let faults = shipment.isMoved ? [] : faults.strike(call, at: world.now)
    if let later = postponed(number, date, faults) {
      mailroom.move(number, to: later)
      return nil
    }
    // Retries keep the generation of the first attempt.
    let version = shipment.version ?? destination.version
    guard let body = shipment.body ?? body(of: number, version, faults, chains, legacy) else {
      mailroom.settle(number, .withoutCounterpart)
      return nil
    }
    mailroom.keep(number, body, version)
    if faults.contains(where: { $0.kind == .dropped }) {
      mailroom.lose(number, SendAttempt(at: date, .noResponse))
      return nil
    }
    let copies = faults.reduce(0) { $1.kind == .duplicated ? $0 + Int($1.value) : $0 }
    return NotificationDelivery(shipment: number, destination: destination, body: body, date: date, copies: copies)
  }

  private func postponed(_ number: Int, _ date: Timestamp, _ faults: [Fault]) -> Timestamp? {
    guard mailroom[number].attempts.isEmpty else { return nil }
    for fault in faults {
      if fault.kind == .delayed { return date + .milliseconds(fault.value) }
      // It follows the next one, if there is one to swap with.
      if fault.kind == .reordered, let next = mailroom.next, next <= world.now { return next }
    }
    return nil
  }

  private mutating func body(
    of number: Int, _ version: NotificationVersion, _ faults: [Fault], _ chains: SigningChains, _ legacy: ReceiptPKI
  ) -> [UInt8]? {
    switch version {
    case .v2: bodyV2(of: mailroom[number], faults, chains)
    case .v1: bodyV1(of: number, faults, legacy)
    }
  }

  private func bodyV2(of shipment: QueuedNotification, _ faults: [Fault], _ chains: SigningChains) -> [UInt8]? {
    guard let draft = draft(of: shipment) else { return nil }
    let signer = ResponseSigner(chains, faults, at: draft.signedDate)
    guard var payload = try? draft.payload(signedBy: signer.signer) else { return nil }
    payload["signedDate"] = .integer(signer.date.sinceEpoch)
    if faults.contains(where: { $0.kind == .unknownType }) {
      payload["notificationType"] = "FUTURE_EVENT"
      payload["subtype"] = "FUTURE_KIND"
    }
    return (try? signer.sign(payload)).map(SignedNotification.body)
  }

  /// Creates the V1 body.
  ///
  /// V1 can report one event in two messages; each becomes a separate shipment.
  private mutating func bodyV1(
    of number: Int, _ faults: [Fault], _ legacy: ReceiptPKI
  ) -> [UInt8]? {
    let shipment = mailroom[number]
    guard let told = notification(of: shipment)?.v1, told.indices.contains(shipment.part) else { return nil }
    if shipment.part == 0 {
      for part in told.indices.dropFirst() {
        var other = shipment
        other.part = part
        mailroom.accept(other)
      }
    }
    var message = told[shipment.part]
    for fault in faults {
      switch fault.kind {
      case .wrongPassword: message.sharedSecret = String(message.sharedSecret.reversed())
      case .unknownType: message.notificationType = "FUTURE_EVENT"
      default: continue
      }
    }
    guard let receipt = try? message.latestReceipt.encoded(signedBy: legacy) else { return nil }
    var object = message.object(latestReceipt: receipt)
    if faults.contains(where: { $0.kind == .unknownFields }) { object["future_field"] = "future value" }
    return object.encoded()
  }
}

extension AppStoreState {
  func notification(of shipment: QueuedNotification) -> WorldNotification? {
    guard case .happening(let happening, let customer) = shipment.subject else { return nil }
    return world.notification(of: happening, to: customer)
  }

  /// Returns the V2 notification; `nil` if V2 does not report it.
  func draft(of shipment: QueuedNotification) -> NotificationDraft? {
    switch shipment.subject {
    case .happening: notification(of: shipment)?.v2
    case .notice(let draft): draft
    }
  }
}
