import Signing
import Time

/// Every notification of a world, what became of it, and which is due next.
///
/// A value: it decides, somebody else sends.
struct NotificationQueue: Sendable {
  /// A place in the order of sending; `order` tells those of one instant apart.
  private struct Turn: Sendable {
    let date: Timestamp
    let order: Int
    let shipment: Int

    static func < (a: Self, b: Self) -> Bool { (a.date, a.order) < (b.date, b.order) }
  }

  /// By their number, from 0, in the order in which they were told.
  private(set) var shipments: [QueuedNotification] = []
  /// A binary heap, the earliest first.
  private var turns: [Turn] = []
  private var order = 0
  /// Places of the bodies that are still kept, the oldest first.
  private var kept: [Int] = []
  private var firstKept = 0
  /// So many bodies of 12 KB are kept of what was sent; older ones are signed anew when somebody asks for them.
  private static let bodyLimit = 10_000

  subscript(number: Int) -> QueuedNotification { shipments[number] }

  /// When something is to be sent next.
  var next: Timestamp? { turns.first?.date }

  /// How many turns are planned.
  var waiting: Int { turns.count }

  @discardableResult
  mutating func accept(_ shipment: QueuedNotification) -> Int {
    shipments.append(shipment)
    plan(shipments.count - 1, at: shipment.due)
    return shipments.count - 1
  }

  /// Takes the next one that is due out of the queue, with the time of its turn.
  mutating func take(dueBy now: Timestamp) -> (number: Int, date: Timestamp)? {
    guard let first = turns.first, first.date <= now, let last = turns.popLast() else { return nil }
    if !turns.isEmpty {
      turns[0] = last
      sink()
    }
    return (first.shipment, first.date)
  }

  /// Puts it back, to be sent later.
  mutating func move(_ number: Int, to date: Timestamp) {
    shipments[number].isMoved = true
    plan(number, at: date)
  }

  mutating func settle(_ number: Int, _ state: QueuedNotification.State) { shipments[number].state = state }

  /// Remembers what is posted, in which generation.
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

  /// Writes an attempt down and plans the next one, if there is to be one.
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

  /// Writes down an attempt after which there is no other, although nobody got anything.
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
