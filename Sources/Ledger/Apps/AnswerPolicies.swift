package import Database
package import Time

/// Which requests without a password are answered with subscriptions.
package enum AnswerClients: String, Hashable, Sendable, CaseIterable {
  /// None: subscriptions are told only to requests with the app's shared secret.
  case password
  /// Requests that carry the app's bearer token, or come from a client whose certificate a trusted proxy names.
  case token
}

/// `answer_readings` and `answer_clients`: how verifyReceipt is answered for an app.
extension PolicyTable {
  /// The rows of `answer-rules.tsv` that an operator chose in place of the defaults, in order.
  package static func answerReadings(of app: App, in session: borrowing Session) throws(DatabaseError) -> [String] {
    var readings: [String] = []
    for row in try session.query(
      "SELECT reading FROM answer_readings WHERE app = \(app.id.number) ORDER BY reading")
    { readings.append(try row.text("reading")) }
    return readings
  }

  /// The chosen readings of every app that has any.
  static func answerReadings(in session: borrowing Session) throws(DatabaseError) -> [App.ID: [String]] {
    var readings: [App.ID: [String]] = [:]
    for row in try session.query("SELECT app, reading FROM answer_readings ORDER BY app, reading") {
      readings[App.ID(try row.int("app")), default: []].append(try row.text("reading"))
    }
    return readings
  }

  /// Replaces what was chosen; none means that every default holds.
  ///
  /// - Parameter readings: rows that `ComposerRules` accepts together; nothing here checks them.
  package static func set(
    answerReadings readings: [String], of app: App, at now: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) {
    _ = try session.execute("DELETE FROM answer_readings WHERE app = \(app.id.number)")
    for reading in Set(readings).sorted() {
      _ = try session.execute(
        "INSERT INTO answer_readings (app, reading, changed_at) VALUES (\(app.id.number), \(reading), \(now))")
    }
  }

  /// Which requests without a password get subscriptions; `password` unless it was set.
  package static func answerClients(of app: App, in session: borrowing Session) throws(DatabaseError) -> AnswerClients {
    try answerClients(in: session)[app.id] ?? .password
  }

  /// The decision for every app that has one.
  static func answerClients(in session: borrowing Session) throws(DatabaseError) -> [App.ID: AnswerClients] {
    var clients: [App.ID: AnswerClients] = [:]
    for row in try session.query("SELECT app, policy FROM answer_clients") {
      let word = try row.text("policy")
      guard let policy = AnswerClients(rawValue: word) else {
        throw DatabaseError(.column, "a policy this build does not know: \(word)")
      }
      clients[App.ID(try row.int("app"))] = policy
    }
    return clients
  }

  package static func set(
    answerClients policy: AnswerClients, of app: App, at now: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) {
    _ = try session.execute(
      """
      INSERT INTO answer_clients (app, policy, changed_at) VALUES (\(app.id.number), \(policy.rawValue), \(now))
      ON DUPLICATE KEY UPDATE policy = VALUES(policy), changed_at = VALUES(changed_at)
      """)
  }
}
