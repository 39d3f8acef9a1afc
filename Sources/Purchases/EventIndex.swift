import Time

/// A name by which an event refers to a purchase: a line or a transaction ID of one originalTransactionId.
///
/// The relation of `Purchase.isTold(by:)` as dictionary keys.
private struct EventName: Hashable {
  enum Kind: Hashable { case line, transactionID }

  let app: String, environment: Environment, originalTransactionID: String, kind: Kind, text: String

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

  /// Calls `body` with each name of `purchase` in events until it returns true.
  ///
  /// Returns whether it did.
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

  /// Returns false for "0", the first transaction ID of Xcode, and every one in its receipts.
  private static func isID(_ text: String) -> Bool { text != "" && text != "0" }
}

struct EventIndex {
  private var seconds: [EventName: Set<Int64>] = [:]

  init(_ events: some Sequence<Event>) {
    for event in events {
      for name in EventName.names(of: event) { seconds[name, default: []].insert(event.date.wholeSeconds) }
    }
  }

  func tells(of purchase: Purchase) -> Bool {
    EventName.anyName(of: purchase) { seconds[$0] != nil }
  }

  func tells(of purchase: Purchase, at date: Timestamp) -> Bool {
    let second = date.wholeSeconds
    return EventName.anyName(of: purchase) { seconds[$0]?.contains(second) ?? false }
  }
}

/// Events that are inferred from signed purchases, by the content of an equal notification.
struct InferredEvents {
  private struct Entry: Hashable {
    let name: EventName, second: Int64, notificationType: String, subtype: String?

    init(_ name: EventName, _ event: Event) {
      self.name = name
      second = event.date.wholeSeconds
      (notificationType, subtype) = (event.notificationType, event.subtype)
    }
  }

  /// The content of a V1 event without a row: all but the line.
  private struct Lineless: Hashable {
    let original: String?, second: Int64, notificationType: String, subtype: String?

    init(_ event: Event) {
      (original, second) = (event.originalTransactionID, event.date.wholeSeconds)
      (notificationType, subtype) = (event.notificationType, event.subtype)
    }
  }

  private var places: [Entry: Int] = [:]
  /// `nil` if several lines have the same content.
  private var lineless: [Lineless: Int?] = [:]

  /// Stores the position of an event inferred from `purchase`.
  ///
  /// The first of several with one name keeps it.
  mutating func insert(_ event: Event, of purchase: Purchase, at place: Int) {
    let key = Lineless(event)
    lineless[key] = .some(lineless[key] == nil ? place : nil)
    _ = EventName.anyName(of: purchase) { name in
      let entry = Entry(name, event)
      if places[entry] == nil { places[entry] = place }
      return false
    }
  }

  /// Returns the position of the inferred event with the same type, subtype, purchase and second.
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

/// The periods of subscriptions by the names in events, to find superseded events.
public struct PeriodIndex: Sendable {
  /// Whether a later period was bought than the last one with the name.
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

  /// Whether another period was bought after the event's one.
  ///
  /// A superseded event is kept.
  public func isSuperseded(_ event: Event) -> Bool {
    // The last period under any of the event's names decides.
    let told = EventName.names(of: event).compactMap { isSuperseded[$0] }
    return !told.isEmpty && !told.contains(false)
  }
}
