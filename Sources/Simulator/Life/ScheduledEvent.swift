import Time

/// An event that is due for a household, if it still applies then.
struct ScheduledEvent: Hashable, Sendable {
  enum Kind: UInt8, Hashable, Sendable {
    // Apple's actions.
    case attemptRenewal, endPeriod, endGrace, endRetry, changePrice
    case decideRefund, reverseRefund, extend, refuseRenewal
    // Customers' actions.
    case join, buyOnce, finish, turnOff, turnOn, upgrade, downgrade, crossgrade, takeBack, redeem
    case requestRefund, pay, comeBack, answerPrice, restore, stopSharing
  }

  let date: Timestamp
  /// The order among the household's events: the first planned happens first.
  let order: Int32
  let household: Int32
  let kind: Kind
  let member: UInt8
  /// The index of a subscription, a charge or a price change, depending on the kind.
  let index: Int32
  let generation: Int32

  static func < (a: Self, b: Self) -> Bool { (a.date, a.household, a.order) < (b.date, b.household, b.order) }
}

/// The due events of a world, earliest first: a binary heap.
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

  /// Removes the earliest event, if it is due at `date`.
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
