package import Database
package import JSON
package import Time

/// An operator's policy for an app: whether Apple gets consumption data about a purchase with a refund request.
package enum ConsumptionPolicy: Hashable, Sendable {
  /// Sends no data.
  ///
  /// The requests are kept and can be answered by hand.
  case ignore
  /// Sends the same response each time, which states that customers consented.
  case fixed(JSONObject)
  case ask(url: String)

  package var mode: String {
    switch self {
    case .ignore: "ignore"
    case .fixed: "fixed"
    case .ask: "ask"
    }
  }

  /// The text for messages and the audit, without the path of a URL, which may hold a secret.
  package var summary: String {
    switch self {
    case .ignore: "ignore"
    case .fixed(let answer): "fixed " + String(decoding: answer.encoded(), as: UTF8.self)
    case .ask(let url): "ask \(Destination.host(of: url))"
    }
  }
}

/// `consumption_policies`: the default is `ignore`, so that customer data leaves only by an operator's decision.
package enum ConsumptionPolicyTable {
  package static func policy(of app: App.ID, in session: borrowing Session) throws(DatabaseError) -> ConsumptionPolicy {
    let rows = try session.query("SELECT mode, answer, url FROM consumption_policies WHERE app = \(app.number)")
    guard let row = rows.first else { return .ignore }
    switch (try row.text("mode"), try row.optionalBytes("answer"), try row.optionalText("url")) {
    case ("ignore", _, _): return .ignore
    case ("fixed", let bytes?, _):
      guard let answer = try? JSONReader.read(bytes).object else {
        throw DatabaseError(.column, "the stored answer to consumption requests is not a JSON object")
      }
      return .fixed(answer)
    case ("ask", _, let url?): return .ask(url: url)
    case (let mode, _, _): throw DatabaseError(.column, "a consumption policy this build does not know: \(mode)")
    }
  }

  package static func set(
    _ policy: ConsumptionPolicy, of app: App, at now: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) {
    let (answer, url): ([UInt8]?, String?) =
      switch policy {
      case .ignore: (nil, nil)
      case .fixed(let answer): (answer.encoded(), nil)
      case .ask(let url): (nil, url)
      }
    _ = try session.execute(
      """
      INSERT INTO consumption_policies (app, mode, answer, url, changed_at)
      VALUES (\(app.id.number), \(policy.mode), \(answer), \(url), \(now))
      ON DUPLICATE KEY UPDATE mode = VALUES(mode), answer = VALUES(answer), url = VALUES(url),
        changed_at = VALUES(changed_at)
      """)
  }
}
