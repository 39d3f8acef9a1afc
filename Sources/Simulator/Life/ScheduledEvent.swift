import Time

/// Something that is due to happen to a household, if it still makes sense then.
struct ScheduledEvent: Hashable, Sendable {
  enum Kind: UInt8, Hashable, Sendable {
    // What Apple does.
    case attemptRenewal, endPeriod, endGrace, endRetry, changePrice
    case decideRefund, reverseRefund, extend, refuseRenewal
    // What customers do.
    case join, buyOnce, finish, turnOff, turnOn, upgrade, downgrade, crossgrade, takeBack, redeem
    case requestRefund, pay, comeBack, answerPrice, restore, stopSharing
  }

  let date: Timestamp
  /// Among the events of the household: what was planned first happens first.
  let order: Int32
  let household: Int32
  let kind: Kind
  let member: UInt8
  /// Of a subscription, a charge or a price change, as the kind says.
  let index: Int32
  /// Of the subscription when this was planned.
  let generation: Int32

  static func < (a: Self, b: Self) -> Bool { (a.date, a.household, a.order) < (b.date, b.household, b.order) }
}

/// What is due to happen in a world, the earliest first: a binary heap.
struct EventQueue: Sendable {
  private var heap: [ScheduledEvent] = []

  var next: Timestamp? { heap.first?.date }
  var count: Int { heap.count }

  mutating func add(_ event: ScheduledEvent) {
    heap.append(event)
    var place = heap.count - 1
    while place > 0, heap[place] < heap[(place - 1) / 2] {
      heap.swapAt(place, (place - 1) / 2)
      place = (place - 1) / 2
    }
  }

  /// The earliest, if it is due at `date`.
  mutating func take(dueAt date: Timestamp) -> ScheduledEvent? {
    guard let first = heap.first, first.date <= date, let last = heap.popLast() else { return nil }
    guard !heap.isEmpty else { return first }
    heap[0] = last
    var place = 0
    while true {
      let left = 2 * place + 1
      guard left < heap.count else { return first }
      let smaller = left + 1 < heap.count && heap[left + 1] < heap[left] ? left + 1 : left
      guard heap[smaller] < heap[place] else { return first }
      heap.swapAt(place, smaller)
      place = smaller
    }
  }
}
