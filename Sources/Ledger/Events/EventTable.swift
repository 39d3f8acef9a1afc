import Database
import JSON
import Purchases
import Signing
import Time

/// `events`: each notification once.
enum EventTable {
  private static let upsert = BulkInsert(
    into: """
      INSERT INTO events (app, environment, id, notification_uuid, notification_type, subtype, original_transaction_id,
        transaction_id, line, date, source, as_of, details, rule, message, precedence) VALUES
      """,
    then: """
      ON DUPLICATE KEY UPDATE
        notification_type = IF(VALUES(precedence) > precedence, VALUES(notification_type), notification_type),
        subtype = IF(VALUES(precedence) > precedence, VALUES(subtype), subtype),
        original_transaction_id =
          IF(VALUES(precedence) > precedence, VALUES(original_transaction_id), original_transaction_id),
        transaction_id = IF(VALUES(precedence) > precedence, VALUES(transaction_id), transaction_id),
        line = IF(VALUES(precedence) > precedence, VALUES(line), line),
        date = IF(VALUES(precedence) > precedence, VALUES(date), date),
        source = IF(VALUES(precedence) > precedence, VALUES(source), source),
        as_of = IF(VALUES(precedence) > precedence, VALUES(as_of), as_of),
        details = IF(VALUES(precedence) > precedence, VALUES(details), details),
        rule = IF(VALUES(precedence) > precedence, VALUES(rule), rule),
        message = IF(VALUES(precedence) > precedence, VALUES(message), message),
        precedence = GREATEST(precedence, VALUES(precedence))
      """, repeatsLast: true)

  static func note(_ events: [(App.ID, Event)], in session: borrowing Session) throws(DatabaseError) {
    let rows: [[SQLValue]] = events.map { app, event in
      [
        .integer(Int64(app.number)), .integer(Int64(event.environment.code)), .text(event.id),
        event.notificationUUID.sqlValue, .text(event.notificationType), event.subtype.sqlValue,
        .text(event.originalTransactionID ?? ""), event.transactionID.sqlValue, (event.line?.text).sqlValue,
        .integer(event.date.sinceEpoch), .integer(Int64(event.source.rawValue)),
        .integer(event.rank.asOf.sinceEpoch), .bytes(event.details.encoded()), event.rule.sqlValue,
        .bytes(event.message), .bytes(EncodedRank.bytes(event.rank)),
      ]
    }
    _ = try session.insert(upsert, rows: rows.inKeyOrder(columns: 3))
  }

  /// Returns the events that `condition` selects, by date.
  ///
  /// - Parameters:
  ///   - table: `events`, or a join with it, with its index.
  ///   - limit: the maximum number of rows. `nil`: no limit.
  static func read(
    from table: SQL = "events", _ condition: SQL, bundleIDs: [App.ID: String], atMost limit: Int? = nil,
    isBackward: Bool = false, in session: borrowing Session
  ) throws(DatabaseError) -> [Event] {
    var events: [Event] = []
    let order: SQL =
      isBackward
      ? "app DESC, environment DESC, original_transaction_id DESC, date DESC, id DESC"
      : "app, environment, original_transaction_id, date, id"
    try session.query(
      """
      SELECT app, environment, notification_uuid, notification_type, subtype, original_transaction_id, transaction_id,
        line, date, source, as_of, details, rule, message, precedence
      FROM \(table) \(condition) ORDER BY \(order) \(.limit(limit))
      """
    ) { row throws(DatabaseError) in
      let original = try row.text("original_transaction_id")
      events.append(
        Event(
          app: bundleIDs[App.ID(try row.int("app"))] ?? "", environment: try Environment(code: row.int("environment")),
          notificationUUID: try row.optionalText("notification_uuid"),
          notificationType: try row.text("notification_type"), subtype: try row.optionalText("subtype"),
          originalTransactionID: original == "" ? nil : original, transactionID: try row.optionalText("transaction_id"),
          line: try row.optionalText("line").map(Line.init(text:)), date: try row.milliseconds("date"),
          source: Source(rawValue: try row.int("source")) ?? .unverifiedReceipt,
          rank: Rank(
            asOf: try row.milliseconds("as_of"), tieBreak: EncodedRank.tieBreak(try row.bytes("precedence"))),
          details: (try? JSONReader.read(row.bytes("details"), limits: .stored).object) ?? [:],
          message: try row.bytes("message"),
          rule: try row.optionalText("rule")))
    }
    return events
  }

  static func read(
    _ condition: SQL, bundleIDs: [App.ID: String], within bound: inout ReadLimit, in session: borrowing Session
  ) throws(DatabaseError) -> [Event] {
    let events = try bound.rows { further, isBackward, limit throws(DatabaseError) in
      try read(condition + further, bundleIDs: bundleIDs, atMost: limit, isBackward: isBackward, in: session)
    }
    guard events.count > bound.claimed else { return events }
    return events.sorted { a, b in
      (a.originalTransactionID ?? "", a.date, a.id) < (b.originalTransactionID ?? "", b.date, b.id)
    }
  }
}

extension Event {
  /// The key that prevents a second row: Apple's UUID, otherwise a digest of the event's meaning.
  var id: String {
    if let notificationUUID { return notificationUUID }
    let parts = [notificationType, subtype ?? "", originalTransactionID ?? "", line?.text ?? "", "\(date.sinceEpoch)"]
    return Digest.sha256(Array(parts.joined(separator: "\n").utf8)).hex
  }
}
