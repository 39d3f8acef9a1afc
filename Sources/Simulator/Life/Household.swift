import Signing
import Time

/// People that share purchases, mostly one person, independent of all other households.
///
/// So a world may be stepped in any way, and the same seed gives the same events for each household.
struct Household: Sendable {
  let number: Int32
  let app: Int32
  let environment: AppStoreEnvironment
  var members: [Member]
  var isSharing = false
  var random: SplitMix64
  /// The events, oldest first.
  private(set) var log: [WorldEvent] = []
  /// The current event, or the last one.
  private(set) var sequence: Int32 = 0
  /// Events planned since the agenda last collected them.
  var planned: [ScheduledEvent] = []
  private var order: Int32 = 0
  /// The number of IDs in use; the first ones are of the members' downloads.
  private var slot = 8
  private var lastDate: Timestamp
  private var lastDue: Timestamp

  init(number: Int, members: [Member], app: Int, environment: AppStoreEnvironment, random: SplitMix64) {
    self.number = Int32(number)
    self.members = members
    self.app = Int32(app)
    self.environment = environment
    self.random = random
    lastDate = Timestamp(0)
    lastDue = Timestamp(0)
  }

  struct Member: Sendable {
    let storefront: Storefront
    let hasAccountToken: Bool
    let usesStoreKit1: Bool
    let downloadedAt: Timestamp
    var preorderedAt: Timestamp?
    var licence: VolumeLicence?
    /// The charges in the order in which they were made.
    var charges: [Charge] = []
    /// Earlier versions of charges with their indexes, oldest first.
    var earlier: [(place: Int, charge: Charge)] = []
    var subscriptions: [Subscription] = []
    var restores: [(date: Timestamp, sequence: Int32)] = []
    /// Account tokens that were set later, by original transaction ID.
    var accountTokens: [Int64: String] = [:]
    var hasWorkingPayment = true
    var hasJoined = false

    /// Returns the purchase after an event; `nil` before it was made.
    func charge(_ place: Int, asOf sequence: Int32) -> Charge? {
      let charge = charges[place]
      if charge.sequence <= sequence { return charge }
      return earlier.last { $0.place == place && $0.charge.sequence <= sequence }?.charge
    }
  }

  /// Whether the IDs for another purchase are used up.
  var isFull: Bool { slot + 16 > WorldIdentifiers.slots || sequence > 1_000_000_000 }

  mutating func nextID(_ market: AppMarket) -> Int64 {
    defer { slot += 1 }
    return market.ids(environment).id(slot, of: Int(number))
  }

  /// Begins an event, which includes all changes until its end.
  mutating func begin() { sequence += 1 }

  /// Ends an event.
  ///
  /// It is signed and delivered after all earlier events, so a later signature is never older news.
  mutating func tell(
    _ kind: WorldEvent.Kind, of member: Int, charge: Int? = nil, subscription: Int? = nil, at date: Timestamp,
    reason: String? = nil
  ) {
    lastDate = max(date, lastDate + .milliseconds(1))
    lastDue = max(lastDate + .milliseconds(Int64(random.number(in: 200..<4_000))), lastDue + .milliseconds(1))
    log.append(
      WorldEvent(
        kind: kind, date: lastDate, due: lastDue, sequence: sequence, member: member, charge: Int32(charge ?? -1),
        subscription: Int32(subscription ?? -1), consumptionRequestReason: reason))
  }

  mutating func plan(
    _ kind: ScheduledEvent.Kind, at date: Timestamp, of member: Int, index: Int = -1, generation: Int32 = 0
  ) {
    order += 1
    planned.append(
      ScheduledEvent(
        date: date, order: order, household: number, kind: kind, member: UInt8(member), index: Int32(index),
        generation: generation))
  }

  /// Changes a charge within the current event, and keeps its earlier version.
  mutating func change(
    _ place: Int, of member: Int, at date: Timestamp, _ body: (inout Charge) -> Void
  ) {
    let old = members[member].charges[place]
    if old.sequence != sequence { members[member].earlier.append((place, old)) }
    body(&members[member].charges[place])
    members[member].charges[place].modifiedAt = date
    members[member].charges[place].sequence = sequence
  }

  /// Changes the renewal intent within the current event, and keeps the earlier one.
  mutating func intend(_ subscription: Int, of member: Int, _ body: (inout RenewalIntent) -> Void) {
    var intention = members[member].subscriptions[subscription].intention
    let isNew = intention.sequence != sequence
    body(&intention)
    intention.sequence = sequence
    if isNew {
      members[member].subscriptions[subscription].intentions.append(intention)
    } else {
      members[member].subscriptions[subscription].intention = intention
    }
  }

  /// Returns the last event until a time; 0 before the first.
  func sequence(at date: Timestamp) -> Int32 {
    var (low, high) = (0, log.count)
    while low < high {
      let middle = (low + high) / 2
      if log[middle].date <= date { low = middle + 1 } else { high = middle }
    }
    return low == 0 ? 0 : log[low - 1].sequence
  }
}
