import JSON
import Mappings
import Purchases
import Time
import Wire

/// Maps a V1 notification to events, by `v1-events.tsv`.
struct V1EventMapping {
  let table: V1EventTable
  let subscription: V1SubscriptionState
  /// The subscription of an event without a row.
  let original: String?

  struct MappedEvent {
    let notificationType: String
    let subtype: String?
    let subject: V1Purchase?
    let date: Timestamp
    /// `nil` for a notification that no row classifies: it keeps V1's name.
    let rule: String?
  }

  /// The events: one for every row whose condition holds, an empty list for a companion, and the notification itself
  /// for an unknown one.
  var mappedEvents: [MappedEvent] {
    guard let type = subscription.body.notificationType else { return [] }
    let matching = table[type].filter { subscription.holds($0.condition) }
    if matching.isEmpty {
      return [
        MappedEvent(
          notificationType: type, subtype: nil, subject: subscription.current, date: subscription.asOf, rule: nil)
      ]
    }
    return matching.compactMap { row in
      guard let event = row.event else { return nil }
      let subject = event.moment == .revocation ? subscription.target : subscription.current
      return MappedEvent(
        notificationType: event.notificationType, subtype: event.subtype, subject: subject,
        date: date(event.moment, subject) ?? subscription.asOf, rule: row.id)
    }
  }

  private func date(_ moment: V1EventTable.Moment, _ subject: V1Purchase?) -> Timestamp? {
    switch moment {
    case .purchase: subject?.purchasedAt
    case .expiry: subject?.endsAt
    case .revocation: subject?.cancelledAt ?? subscription.body.cancellationDate
    case .change: subscription.body.autoRenewStatusChangeDate
    case .asOf: nil
    }
  }

  /// The top-level members other than app, environment, receipt and secret.
  var details: JSONObject {
    let told: Set<String> = [
      "environment", "bid", "deprecation", "latest_receipt", "latest_expired_receipt",
      // Marks events derived from signed purchases; a body with this member would look like them.
      "learned",
    ]
    var details: [JSONObject.Member] = []
    for member in subscription.body.json.members {
      // Apple's have some twenty, with names of at most 40 letters; a sender with the secret can write any number. The
      // message has them all.
      guard details.count < Self.mostDetails else { break }
      guard member.key.utf8.count <= Self.longestName, !told.contains(member.key), member.key.lowercased() != "password"
      else { continue }
      switch member.value {
      case .bool, .integer: details.append(member)
      case .string(let text) where text.utf8.count <= 255: details.append(member)
      case .string, .null, .number, .array, .object: break
      }
    }
    return JSONObject(uniqueMembers: details)
  }

  private static let mostDetails = 64
  private static let longestName = 64
}
