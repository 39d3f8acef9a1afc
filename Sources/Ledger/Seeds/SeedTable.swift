import Database
import Purchases
import Signing
import Time

/// `seeds`: every ID that can request Apple's history, with the first message that named it.
///
/// Rows are never deleted. The order is by `receivedAt`, which a message keeps, so that the order of writing does not
/// matter.
enum SeedTable {
  struct Row: Sendable {
    let app: App.ID
    /// The seed with the user ID of the first message.
    ///
    /// Other user IDs are attributions.
    let seed: TransactionReference
    let kind: InboxMessage.Kind
    let firstSeenAt: Timestamp
    let message: Digest
  }

  // Each assignment compares `first_seen_at` and `message`, which are assigned last.
  private static let upsert = BulkInsert(
    into: "INSERT INTO seeds (app, environment, transaction_id, kind, first_seen_at, message, user_id) VALUES",
    then: """
      ON DUPLICATE KEY UPDATE
        kind = IF(VALUES(first_seen_at) < first_seen_at
          OR VALUES(first_seen_at) = first_seen_at AND VALUES(message) < message, VALUES(kind), kind),
        user_id = IF(VALUES(first_seen_at) < first_seen_at
          OR VALUES(first_seen_at) = first_seen_at AND VALUES(message) < message, VALUES(user_id), user_id),
        message = IF(VALUES(first_seen_at) < first_seen_at
          OR VALUES(first_seen_at) = first_seen_at AND VALUES(message) < message, VALUES(message), message),
        first_seen_at = LEAST(first_seen_at, VALUES(first_seen_at))
      """)

  static func note(
    _ messages: [(message: InboxMessage, app: App.ID, findings: Findings)], in session: borrowing Session
  ) throws(DatabaseError) {
    let rows: [[SQLValue]] = messages.flatMap { message, app, findings in
      Set(findings.seeds).map { seed in
        [
          .integer(Int64(app.number)), .integer(Int64(seed.environment?.code ?? nobodySaid)),
          .text(seed.transactionID), .integer(Int64(message.kind.rawValue)),
          .integer(message.receivedAt.sinceEpoch), .bytes(message.digest.bytes), seed.userID.sqlValue,
        ]
      }
    }
    _ = try session.insert(upsert, rows: rows.inKeyOrder(columns: 3))
  }

  private static let nobodySaid = 0

  static func read(
    _ selection: SQL, bundleIDs: [App.ID: String], in session: borrowing Session
  ) throws(DatabaseError) -> [Row] {
    let rows = try session.query(
      "SELECT app, environment, transaction_id, kind, first_seen_at, message, user_id FROM seeds \(selection)")
    var seeds: [Row] = []
    for row in rows {
      guard let kind = InboxMessage.Kind(rawValue: try row.int("kind")),
        let message = Digest(bytes: try row.bytes("message"))
      else { throw DatabaseError(.column, "a seed that this build cannot read") }
      let app = App.ID(try row.int("app"))
      let environment = try row.int("environment")
      seeds.append(
        Row(
          app: app,
          seed: TransactionReference(
            app: bundleIDs[app] ?? "",
            environment: environment == nobodySaid ? nil : try Environment(code: environment),
            transactionID: try row.text("transaction_id"), userID: try row.optionalText("user_id")),
          kind: kind, firstSeenAt: try row.milliseconds("first_seen_at"), message: message))
    }
    return seeds
  }
}
