package import Database
package import JSON
import Purchases
import Signing
import Time

/// The ledger's data as JSON lines that depend only on the messages, not on the order and time of arrival.
package enum CanonicalDump {
  /// Passes one line after the other, table by table.
  ///
  /// A cancelled task stops between two lines.
  package static func write(from session: borrowing Session, line take: (JSONObject) -> Void) throws(DatabaseError) {
    func line(_ object: JSONObject) throws(DatabaseError) {
      if Task.isCancelled { throw .abandoned("stopped") }
      take(object)
    }
    let apps = try AppTable.all(includingRemoved: true, in: session)
    let names = Dictionary(apps.map { ($0.id, $0.bundleID) }) { first, _ in first }
    for app in apps {
      for environment in Environment.allCases {
        let scope = AppScope(app: app.id, environment: environment)
        let selected: SQL = "WHERE app = \(app.id.number) AND environment = \(environment.code)"
        for statement in try PurchaseTable.read(selected, bundleIDs: names, in: session) {
          try line(statement.canonical)
        }
        for statement in try RenewalTable.read(selected, bundleIDs: names, in: session) {
          try line(statement.canonical)
        }
        for statement in try AppTransactionTable.read(selected, bundleIDs: names, in: session) {
          try line(statement.canonical)
        }
        for event in Event.fold(try EventTable.read(selected, bundleIDs: names, in: session)) {
          try line(event.canonical)
        }
        try aliases("aliases", "alias", in: scope, app: app.bundleID, session, line)
        try aliases("claimed_aliases", "unconfirmedAlias", in: scope, app: app.bundleID, session, line)
        try UnconfirmedLinkTable.read(in: scope, session) { link throws(DatabaseError) in
          try line(link.canonical(scope, app))
        }
        for attribution in try AccountAssociationTable.read(selected, in: session) {
          try line(attribution.canonical(scope, app))
        }
        try customers(in: scope, app: app.bundleID, session, line)
      }
      let seeds: SQL = "WHERE app = \(app.id.number) ORDER BY environment, transaction_id"
      for row in try SeedTable.read(seeds, bundleIDs: names, in: session) { try line(row.seed.canonical) }
      for row in try PendingUserIDTable.read(of: app.id, in: session) { try line(row.canonical(app)) }
    }
  }

  private static func aliases(
    _ table: String, _ what: String, in scope: AppScope, app: String, _ session: borrowing Session,
    _ line: (JSONObject) throws(DatabaseError) -> Void
  ) throws(DatabaseError) {
    try session.query(
      """
      SELECT alias, kind, original_transaction_id, line, first_as_of, last_as_of FROM \(identifier: table)
      WHERE \(in: scope) ORDER BY alias, kind, original_transaction_id, line
      """
    ) { row throws(DatabaseError) in
      try line([
        what: .string(try row.text("alias")), "app": .string(app),
        "environment": .string(scope.environment.rawValue), "kind": .integer(try row.int64("kind")),
        "originalTransactionId": .string(try row.text("original_transaction_id")),
        "line": .string(try row.text("line")), "firstAsOf": .integer(try row.int64("first_as_of")),
        "lastAsOf": .integer(try row.int64("last_as_of")),
      ])
    }
  }

  /// Passes each customer by its smallest member, since its label depends on the order of links.
  private static func customers(
    in scope: AppScope, app: String, _ session: borrowing Session, _ line: (JSONObject) throws(DatabaseError) -> Void
  ) throws(DatabaseError) {
    try session.query(
      """
      SELECT s.smallest AS customer, c.node FROM (SELECT label, MIN(node) AS smallest FROM customers
        WHERE \(in: scope) GROUP BY label) AS s
      JOIN customers c ON c.app = \(scope.app.number) AND c.environment = \(scope.environment.code) AND c.label = s.label
      ORDER BY customer, c.node
      """
    ) { row throws(DatabaseError) in
      try line([
        "customer": .string(try row.text("customer")), "app": .string(app),
        "environment": .string(scope.environment.rawValue), "member": .string(try row.text("node")),
      ])
    }
  }
}

extension Statement {
  fileprivate func canonical(_ what: String, _ app: String, _ environment: Environment, _ id: String) -> JSONObject {
    [
      what: .string(id), "app": .string(app), "environment": .string(environment.rawValue),
      "source": .string(source.name), "asOf": .integer(rank.asOf.sinceEpoch), "facts": .object(facts.json),
      "message": .string(Digest(bytes: message)?.hex ?? ""),
    ]
  }
}

extension PurchaseStatement {
  fileprivate var canonical: JSONObject {
    var object = canonical("purchase", key.app, key.environment, key.originalTransactionID)
    object["line"] = .string(key.line.text)
    return object
  }
}

extension RenewalStatement {
  fileprivate var canonical: JSONObject { canonical("renewal", key.app, key.environment, key.originalTransactionID) }
}

extension AppTransactionStatement {
  fileprivate var canonical: JSONObject { canonical("appTransaction", key.app, key.environment, key.appTransactionID) }
}

extension AccountAssociation {
  fileprivate func canonical(_ scope: AppScope, _ app: App) -> JSONObject {
    var object: JSONObject = [
      kind.name: .string(value), "app": .string(app.bundleID), "environment": .string(scope.environment.rawValue),
      "originalTransactionId": .string(originalTransactionID), "line": .string(line.text),
      "firstAsOf": .integer(firstAsOf.sinceEpoch), "lastAsOf": .integer(lastAsOf.sinceEpoch),
      "message": .string(Digest(bytes: message)?.hex ?? ""),
    ]
    if isClaimed { object["unconfirmed"] = true }
    return object
  }
}

extension UnconfirmedLink {
  fileprivate func canonical(_ scope: AppScope, _ app: App) -> JSONObject {
    [
      "unconfirmedLink": .string(a.text), "with": .string(b.text), "app": .string(app.bundleID),
      "environment": .string(scope.environment.rawValue), "message": .string(Digest(bytes: message)?.hex ?? ""),
    ]
  }
}

extension PendingUserIDTable.Row {
  fileprivate func canonical(_ app: App) -> JSONObject {
    [
      "waitingUserID": .string(userID), "app": .string(app.bundleID),
      "environment": environment.map { .string($0.rawValue) } ?? .null, "transactionId": .string(transactionID),
      "firstAsOf": .integer(firstAsOf.sinceEpoch), "lastAsOf": .integer(lastAsOf.sinceEpoch),
      "message": .string(Digest(bytes: message)?.hex ?? ""),
    ]
  }
}

extension TransactionReference {
  /// The line without the first message that named it, which depends on the order of receipt.
  fileprivate var canonical: JSONObject {
    [
      "seed": .string(transactionID), "app": .string(app),
      "environment": environment.map { .string($0.rawValue) } ?? .null,
    ]
  }
}

extension Event {
  fileprivate var canonical: JSONObject {
    var object: JSONObject = [
      "event": .string(notificationType), "app": .string(app), "environment": .string(environment.rawValue),
      "date": .integer(date.sinceEpoch), "source": .string(source.name), "asOf": .integer(rank.asOf.sinceEpoch),
      "details": .object(details), "message": .string(Digest(bytes: message)?.hex ?? ""),
    ]
    object["subtype"] = subtype.map(JSONValue.string)
    object["notificationUUID"] = notificationUUID.map(JSONValue.string)
    object["originalTransactionId"] = originalTransactionID.map(JSONValue.string)
    object["transactionId"] = transactionID.map(JSONValue.string)
    object["line"] = line.map { .string($0.text) }
    object["rule"] = rule.map(JSONValue.string)
    return object
  }
}
