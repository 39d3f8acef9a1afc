import JSON
import Time

/// An event with the statements of all its sources.
public struct MergedEvent: Hashable, Sendable {
  /// The statement with the highest authority, then the latest.
  public let event: Event
  /// The statements, best first.
  public private(set) var tellings: [Event]
  /// Whether no signed notification reported it: it is inferred from a signed purchase.
  public let isLearned: Bool

  /// Whether only unsigned messages report it, and no signed purchase shows it.
  public var isClaimed: Bool { !event.source.isSigned }

  private init?(told tellings: [Event]) {
    guard let event = tellings.first else { return nil }
    (self.event, self.tellings, isLearned) = (event, tellings, false)
  }

  init(learned event: Event) { (self.event, tellings, isLearned) = (event, [event], true) }

  /// Adds claims of the same event, which stays as inferred.
  mutating func add(claims: [Event]) {
    tellings += Set(claims).sorted { $1.isOutranked(by: $0) }
  }

  /// Returns each event once, by date, with its statements.
  ///
  /// Statements belong to one event if they share Apple's UUID or their meaning: a repeated notification may have a new
  /// signature and date, and a V1 retry may repeat V2.
  ///
  /// - Parameter purchases: the known purchases of the events, since several lines may state one purchase.
  public static func all(in events: [Event], purchases: [Purchase] = []) -> [MergedEvent] {
    struct UUID: Hashable {
      var app: String, environment: Environment, text: String
    }
    // Purchases with statements under another line.
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
    // In order of arrival, which is mostly the order of dates, so that the sort is fast.
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

  /// Sorts by date, then by `comes`, otherwise stably.
  ///
  /// It compares dates instead of moving events.
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
  /// Returns each event once, by date: the statement with the highest authority, then the latest.
  public static func fold(_ events: [Event]) -> [Event] { MergedEvent.all(in: events).map(\.event) }

  /// Returns the meaning with one line for each purchase.
  fileprivate func meaning(in lines: [PurchaseKey: Line]) -> Meaning {
    guard let line, let originalTransactionID, !lines.isEmpty else { return meaning }
    let key = PurchaseKey(app: app, environment: environment, originalTransactionID: originalTransactionID, line: line)
    guard let canonical = lines[key], canonical != line else { return meaning }
    var event = self
    event.line = canonical
    return event.meaning
  }

  /// Compares by signature, authority, rank and contents: a total order, independent of the order of arrival.
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
