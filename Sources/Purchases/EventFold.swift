import JSON
import Time

extension Event {
  /// Each event once, by date: of several tellings the one with the most authority, then the latest told.
  ///
  /// Tellings are of one event when Apple gave them one UUID (a notification sent again may be signed anew, and what
  /// happened "when it was signed" then has another date), and when they mean the same (a V1 retry of what V2 said).
  public static func fold(_ events: [Event]) -> [Event] {
    struct UUID: Hashable {
      var app: String, environment: Environment, text: String
    }
    var byUUID: [UUID: Int] = [:]
    var byMeaning: [Meaning: Int] = [:]
    var components = Components<Int>()
    func join<Name: Hashable>(_ place: Int, by name: Name, _ first: inout [Name: Int]) {
      if let other = first[name] { components.join(place, other) } else { first[name] = place }
    }
    for (place, event) in events.enumerated() {
      join(place, by: event.meaning, &byMeaning)
      if let text = event.notificationUUID {
        join(place, by: UUID(app: event.app, environment: event.environment, text: text), &byUUID)
      }
    }
    var told: [Int: Event] = [:]
    for (place, event) in events.enumerated() {
      let label = components.label(of: place)
      if let best = told[label], !best.isOutranked(by: event) { continue }
      told[label] = event
    }
    return told.values.sorted { $0.date != $1.date ? $0.date < $1.date : $0.isOutranked(by: $1) }
  }

  /// By authority, then by rank, then by what is written: a total order, so that no order of arrival shows through.
  private func isOutranked(by other: Event) -> Bool {
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
