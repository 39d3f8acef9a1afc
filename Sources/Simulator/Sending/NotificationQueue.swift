import Signing
import Time

/// Every notification of a world, its outcome, and the next due one.
///
/// The queue only decides; another type sends.
struct NotificationQueue: Sendable {
  /// A position in the order of sending; `order` separates equal dates.
  private struct Turn: Sendable {
    let date: Timestamp
    let order: Int
    let shipment: Int

    static func < (a: Self, b: Self) -> Bool { (a.date, a.order) < (b.date, b.order) }
  }

  /// The notifications by number from 0, in the order of creation.
  private(set) var shipments: [QueuedNotification] = []
  /// A binary heap, the earliest first.
  private var turns: [Turn] = []
  private var order = 0
  /// The indexes of retained bodies, oldest first.
  private var kept: [Int] = []
  private var firstKept = 0
  /// The number of sent bodies (12 KB each) to retain; older ones are signed again on request.
  private static let bodyLimit = 10_000

  subscript(number: Int) -> QueuedNotification { shipments[number] }

  var next: Timestamp? { turns.first?.date }

  var waiting: Int { turns.count }

  @discardableResult
  mutating func accept(_ shipment: QueuedNotification) -> Int {
    shipments.append(shipment)
    plan(shipments.count - 1, at: shipment.due)
    return shipments.count - 1
  }

  mutating func take(dueBy now: Timestamp) -> (number: Int, date: Timestamp)? {
    guard let first = turns.first, first.date <= now, let last = turns.popLast() else { return nil }
    if !turns.isEmpty {
      turns[0] = last
      sink()
    }
    return (first.shipment, first.date)
  }

  mutating func move(_ number: Int, to date: Timestamp) {
    shipments[number].isMoved = true
    plan(number, at: date)
  }

  mutating func settle(_ number: Int, _ state: QueuedNotification.State) { shipments[number].state = state }

  mutating func keep(_ number: Int, _ body: [UInt8], _ version: NotificationVersion) {
    shipments[number].version = version
    shipments[number].body = body
    kept.append(number)
    guard kept.count - firstKept > Self.bodyLimit else { return }
    let oldest = kept[firstKept]
    firstKept += 1
    if shipments[oldest].state != .waiting { shipments[oldest].body = nil }
    if firstKept > Self.bodyLimit {
      kept.removeFirst(firstKept)
      firstKept = 0
    }
  }

  /// Records an attempt and plans a retry if one remains.
  mutating func record(_ attempt: SendAttempt, of number: Int, to destination: Destination) {
    shipments[number].attempts.append(attempt)
    if attempt.result == .success { return settle(number, .delivered) }
    let shipment = shipments[number]
    let stops = destination.stopsAfter400 && attempt.httpStatus == 400
    let next = RetrySchedule.next(
      after: shipment.attempts.count, last: attempt.date, version: shipment.version ?? destination.version,
      isSandbox: shipment.place.environment != .production)
    guard !stops, let next else { return settle(number, .givenUp) }
    plan(number, at: next)
  }

  /// Records a lost attempt, after which there is no retry.
  mutating func lose(_ number: Int, _ attempt: SendAttempt) {
    shipments[number].attempts.append(attempt)
    settle(number, .lost)
  }

  private mutating func plan(_ number: Int, at date: Timestamp) {
    turns.append(Turn(date: date, order: order, shipment: number))
    order += 1
    var place = turns.count - 1
    while place > 0, turns[place] < turns[(place - 1) / 2] {
      turns.swapAt(place, (place - 1) / 2)
      place = (place - 1) / 2
    }
  }

  private mutating func sink() {
    var place = 0
    while true {
      let left = 2 * place + 1
      guard left < turns.count else { return }
      let smaller = left + 1 < turns.count && turns[left + 1] < turns[left] ? left + 1 : left
      guard turns[smaller] < turns[place] else { return }
      turns.swapAt(place, smaller)
      place = smaller
    }
  }
}
