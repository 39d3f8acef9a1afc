import Time

/// The names by which an event says which purchase it is about: a line or a transaction id below one originalTransactionId.
///
/// The same relation as `Purchase.isTold(by:)`, as keys of dictionaries: events and purchases find each other without
/// comparing every event with every purchase.
private struct EventName: Hashable {
  enum Kind: Hashable { case line, transactionID }

  let app: String, environment: Environment, originalTransactionID: String, kind: Kind, text: String

  /// The names that an event uses; none for an event about no purchase.
  static func names(of event: Event) -> [EventName] {
    guard let original = event.originalTransactionID else { return [] }
    func name(_ kind: Kind, _ text: String) -> EventName {
      EventName(
        app: event.app, environment: event.environment, originalTransactionID: original, kind: kind, text: text)
    }
    let line = event.line.map { name(.line, $0.text) }
    let transaction = event.transactionID.flatMap { isID($0) ? name(.transactionID, $0) : nil }
    return [line, transaction].compactMap { $0 }
  }

  /// Calls `body` with each name under which events may tell of `purchase`, until it returns true; whether it did.
  static func anyName(of purchase: Purchase, satisfies body: (EventName) -> Bool) -> Bool {
    let key = purchase.key
    func name(_ kind: Kind, _ text: String) -> EventName {
      EventName(
        app: key.app, environment: key.environment, originalTransactionID: key.originalTransactionID, kind: kind,
        text: text)
    }
    return purchase.statements.contains { statement in
      if body(name(.line, statement.key.line.text)) { return true }
      guard let id = statement.facts.text(.transactionId), isID(id) else { return false }
      return body(name(.transactionID, id))
    }
  }

  /// Xcode calls its first transaction, and in receipts every one, "0".
  private static func isID(_ text: String) -> Bool { text != "" && text != "0" }
}

/// Events by the purchases that they tell of.
struct EventIndex {
  /// The seconds of the events that use each name.
  private var seconds: [EventName: Set<Int64>] = [:]

  init(_ events: some Sequence<Event>) {
    for event in events {
      for name in EventName.names(of: event) { seconds[name, default: []].insert(event.date.wholeSeconds) }
    }
  }

  /// Whether any of the events tells of `purchase`.
  func tells(of purchase: Purchase) -> Bool {
    EventName.anyName(of: purchase) { seconds[$0] != nil }
  }

  /// Whether any of the events tells of `purchase` in the second of `date`.
  func tells(of purchase: Purchase, at date: Timestamp) -> Bool {
    let second = date.wholeSeconds
    return EventName.anyName(of: purchase) { seconds[$0]?.contains(second) ?? false }
  }
}

/// Events that are learned from signed purchases, by what an event that says the same would have.
struct InferredEvents {
  private struct Entry: Hashable {
    let name: EventName, second: Int64, notificationType: String, subtype: String?

    init(_ name: EventName, _ event: Event) {
      self.name = name
      second = event.date.wholeSeconds
      (notificationType, subtype) = (event.notificationType, event.subtype)
    }
  }

  /// What a V1 body without the row says: everything but the line.
  private struct Lineless: Hashable {
    let original: String?, second: Int64, notificationType: String, subtype: String?

    init(_ event: Event) {
      (original, second) = (event.originalTransactionID, event.date.wholeSeconds)
      (notificationType, subtype) = (event.notificationType, event.subtype)
    }
  }

  private var places: [Entry: Int] = [:]
  /// Nil where several say the same of different lines.
  private var lineless: [Lineless: Int?] = [:]

  /// Notes the place of an event that was learned from `purchase`; of several that share a name the first keeps it.
  mutating func insert(_ event: Event, of purchase: Purchase, at place: Int) {
    let key = Lineless(event)
    lineless[key] = .some(lineless[key] == nil ? place : nil)
    _ = EventName.anyName(of: purchase) { name in
      let entry = Entry(name, event)
      if places[entry] == nil { places[entry] = place }
      return false
    }
  }

  /// The place of the learned event that says the same as `occurrence`: its type, subtype, purchase and second.
  func place(of occurrence: MergedEvent) -> Int? {
    for telling in occurrence.tellings {
      for name in EventName.names(of: telling) {
        if let place = places[Entry(name, telling)] { return place }
      }
      if telling.line == nil, telling.originalTransactionID != nil, let place = lineless[Lineless(telling)] ?? nil {
        return place
      }
    }
    return nil
  }
}

/// The periods of subscriptions by the names that events use, to say which events are no longer news.
public struct PeriodIndex: Sendable {
  /// For each name whether a later period was bought than the last that has it.
  private var isSuperseded: [EventName: Bool] = [:]

  public init(_ subscriptions: [Subscription]) {
    for subscription in subscriptions {
      for (place, period) in subscription.periods.enumerated() {
        let isLast = place == subscription.periods.count - 1
        _ = EventName.anyName(of: period) { name in
          isSuperseded[name] = !isLast
          return false
        }
      }
    }
  }

  /// Whether `event` tells of a period after which another was bought: it is kept, and no longer news.
  public func isSuperseded(_ event: Event) -> Bool {
    // The last period that it tells of decides, by whichever of its names.
    let told = EventName.names(of: event).compactMap { isSuperseded[$0] }
    return !told.isEmpty && !told.contains(false)
  }
}
