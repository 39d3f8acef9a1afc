package import Database
package import Time

package enum AnswerClients: String, Hashable, Sendable, CaseIterable {
  /// Only requests with the app's shared secret.
  case password
  /// Also requests with the app's bearer token, or from a client whose certificate a trusted proxy names.
  case token
}

/// `answer_readings` and `answer_clients`: the policies for an app's verifyReceipt responses.
extension PolicyTable {
  package static func answerReadings(of app: App, in session: borrowing Session) throws(DatabaseError) -> [String] {
    var readings: [String] = []
    for row in try session.query(
      "SELECT reading FROM answer_readings WHERE app = \(app.id.number) ORDER BY reading")
    { readings.append(try row.text("reading")) }
    return readings
  }

  static func answerReadings(in session: borrowing Session) throws(DatabaseError) -> [App.ID: [String]] {
    var readings: [App.ID: [String]] = [:]
    for row in try session.query("SELECT app, reading FROM answer_readings ORDER BY app, reading") {
      readings[App.ID(try row.int("app")), default: []].append(try row.text("reading"))
    }
    return readings
  }

  /// Replaces the chosen rows.
  ///
  /// An empty array restores the defaults.
  ///
  /// - Parameter readings: rows that `ComposerRules` accepts together, unchecked.
  package static func set(
    answerReadings readings: [String], of app: App, at now: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) {
    _ = try session.execute("DELETE FROM answer_readings WHERE app = \(app.id.number)")
    for reading in Set(readings).sorted() {
      _ = try session.execute(
        "INSERT INTO answer_readings (app, reading, changed_at) VALUES (\(app.id.number), \(reading), \(now))")
    }
  }

  /// Returns the requests without a password that get subscriptions.
  ///
  /// Default: `password`.
  package static func answerClients(of app: App, in session: borrowing Session) throws(DatabaseError) -> AnswerClients {
    try answerClients(in: session)[app.id] ?? .password
  }

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
