import JSON
import Time

/// Something that happened, with everybody who told of it.
public struct MergedEvent: Hashable, Sendable {
  /// The telling with the most authority, then the latest.
  public let event: Event
  /// All of them, the best first.
  public private(set) var tellings: [Event]
  /// Whether no signed notification told of it: it is read off what Apple signed of the purchase.
  public let isLearned: Bool

  /// Whether unsigned messages alone tell of it, and no signed purchase shows the same.
  public var isClaimed: Bool { !event.source.isSigned }

  /// - Parameter tellings: at least one, the best first.
  private init?(told tellings: [Event]) {
    guard let event = tellings.first else { return nil }
    (self.event, self.tellings, isLearned) = (event, tellings, false)
  }

  init(learned event: Event) { (self.event, tellings, isLearned) = (event, [event], true) }

  /// Adds what claims say of it too; the event itself stays as it was learned.
  mutating func add(claims: [Event]) {
    tellings += Set(claims).sorted { $1.isOutranked(by: $0) }
  }

  /// Each event once, by date, with its tellings.
  ///
  /// Tellings are of one event when Apple gave them one UUID (a notification sent again may be signed anew, and what
  /// happened "when it was signed" then has another date), and when they mean the same (a V1 retry of what V2 said).
  /// - Parameter purchases: what the events are about, as far as it is known: a purchase may be told of by several lines.
  public static func all(in events: [Event], purchases: [Purchase] = []) -> [MergedEvent] {
    struct UUID: Hashable {
      var app: String, environment: Environment, text: String
    }
    // Those that are told of under another name than theirs.
    var lines: [PurchaseKey: Line] = [:]
    for purchase in purchases {
      for statement in purchase.statements where statement.key.line != purchase.key.line {
        lines[statement.key] = purchase.key.line
      }
    }
    var byUUID: [UUID: Int] = [:]
    var byMeaning: [Event.Meaning: Int] = [:]
    var components = DisjointSets<Int>()
    func join<Name: Hashable>(_ place: Int, by name: Name, _ first: inout [Name: Int]) {
      if let other = first[name] { components.join(place, other) } else { first[name] = place }
    }
    for (place, event) in events.enumerated() {
      join(place, by: event.meaning(in: lines), &byMeaning)
      if let text = event.notificationUUID {
        join(place, by: UUID(app: event.app, environment: event.environment, text: text), &byUUID)
      }
    }
    // In the order in which they come, which is mostly that of their dates: what is in order is sorted at once.
    var groups: [Int: Int] = [:]
    var told: [[Event]] = []
    for (place, event) in events.enumerated() {
      let label = components.label(of: place)
      if let group = groups[label] {
        told[group].append(event)
      } else {
        groups[label] = told.count
        told.append([event])
      }
    }
    let occurrences = told.compactMap { tellings -> MergedEvent? in
      let ordered = tellings.count == 1 ? tellings : Set(tellings).sorted { $1.isOutranked(by: $0) }
      return MergedEvent(told: ordered)
    }
    return inOrder(occurrences) { a, b in a.event.isOutranked(by: b.event) }
  }

  /// By date, of one date as `comes` says, else as they are: dates are compared, not events moved about.
  static func inOrder(_ occurrences: [MergedEvent], _ comes: (MergedEvent, MergedEvent) -> Bool) -> [MergedEvent] {
    let dates = occurrences.map(\.event.date)
    func comesBefore(_ a: Int, _ b: Int) -> Bool {
      if dates[a] != dates[b] { return dates[a] < dates[b] }
      if comes(occurrences[a], occurrences[b]) { return true }
      return a < b && !comes(occurrences[b], occurrences[a])
    }
    if occurrences.indices.dropFirst().allSatisfy({ !comesBefore($0, $0 - 1) }) { return occurrences }
    return occurrences.indices.sorted(by: comesBefore).map { occurrences[$0] }
  }
}

extension Event {
  /// Each event once, by date: of several tellings the one with the most authority, then the latest told.
  public static func fold(_ events: [Event]) -> [Event] { MergedEvent.all(in: events).map(\.event) }

  /// What it means when a purchase's lines are all called by one name.
  fileprivate func meaning(in lines: [PurchaseKey: Line]) -> Meaning {
    guard let line, let originalTransactionID, !lines.isEmpty else { return meaning }
    let key = PurchaseKey(app: app, environment: environment, originalTransactionID: originalTransactionID, line: line)
    guard let canonical = lines[key], canonical != line else { return meaning }
    var event = self
    event.line = canonical
    return event.meaning
  }

  /// What is signed first, then by authority, by rank, by what is written: a total order, so that no order of arrival
  /// shows through.
  fileprivate func isOutranked(by other: Event) -> Bool {
    if source.isSigned != other.source.isSigned { return other.source.isSigned }
    if source != other.source { return source < other.source }
    if rank != other.rank { return rank < other.rank }
    if message != other.message { return message.lexicographicallyPrecedes(other.message) }
    return written.lexicographicallyPrecedes(other.written)
  }

  private var written: [UInt8] {
    let words: [String?] = [
      app, environment.rawValue, notificationUUID, notificationType, subtype, originalTransactionID, transactionID,
      line?.text, rule,
    ]
    let values = words.map { $0.map(JSONValue.string) ?? .null }
    return JSONValue.array(values + [.integer(date.sinceEpoch), .object(details)]).encoded()
  }
}
