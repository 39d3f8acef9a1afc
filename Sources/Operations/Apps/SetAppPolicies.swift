package import Database
package import Ledger
package import Purchases
import Signing
package import Time

/// Changes the policies of an app: the access hold, unproven forwarding, consumption, and verifyReceipt responses.
package struct SetAppPolicies: Sendable {
  /// The consumption policy, with the token by which Switchyard authenticates to the back end.
  package struct Consumption: Sendable {
    package let policy: ConsumptionPolicy
    /// `nil`: the token is unchanged.
    package let token: [UInt8]?

    package init(_ policy: ConsumptionPolicy, token: [UInt8]? = nil) {
      self.policy = policy
      self.token = token
    }
  }

  package struct Plan: Sendable {
    /// The app before the change.
    package let before: AppRecord
    package let changes: [String]
  }

  /// The name of the only back end token in `credentials`.
  private static let tokenName = "consumption"

  /// For each policy, `nil` leaves it unchanged.
  package var accessHold: AccessHold?
  package var unprovenForwarding: UnprovenForwarding?
  package var consumption: Consumption?
  package var answerReadings: RuleChoices?
  package var answerClients: AnswerClients?

  private let bundleID: String

  package init(of bundleID: String) { self.bundleID = bundleID }

  /// Returns the changes.
  ///
  /// Throws `NoSuchApp`.
  package func plan(on connection: Connection) async throws -> Plan {
    let before = try await AppRecord.find(bundleID, connection)
    var changes: [String] = []
    if let accessHold, accessHold != before.accessHold {
      changes.append("hold access \(before.accessHold.summary) to \(accessHold.summary)")
    }
    if let unprovenForwarding, unprovenForwarding != before.unprovenForwarding {
      changes.append(
        "forward unproven messages \(before.unprovenForwarding.rawValue) to \(unprovenForwarding.rawValue)")
    }
    if let consumption {
      if consumption.policy != before.consumption {
        changes.append("consumption \(before.consumption.summary) to \(consumption.policy.summary)")
      }
      if consumption.token != nil { changes.append("a new token for the back end that is asked about consumption") }
    }
    if let answerReadings, answerReadings.ids != before.answerReadings {
      changes.append("answer readings \(RuleChoices.summary(before.answerReadings)) to \(answerReadings.summary)")
    }
    if let answerClients, answerClients != before.answerClients {
      changes.append("answer clients \(before.answerClients.rawValue) to \(answerClients.rawValue)")
    }
    return Plan(before: before, changes: changes)
  }

  /// Writes the changes.
  ///
  /// Without changes it writes no audit entry either.
  package func apply(
    _ plan: Plan, sealedWith source: KeySource, by author: AuditContext, at now: Timestamp, on connection: Connection
  ) async throws {
    guard !plan.changes.isEmpty else { return }
    let app = plan.before.app
    let keys = consumption?.token == nil ? nil : try await source.keys(for: connection)
    try await connection.transaction { session throws(DatabaseError) in
      if let accessHold { try PolicyTable.set(accessHold: accessHold, of: app, at: now, in: session) }
      if let unprovenForwarding {
        try UnprovenForwardingTable.set(unprovenForwarding, of: app, at: now, in: session)
      }
      if let consumption {
        try ConsumptionPolicyTable.set(consumption.policy, of: app, at: now, in: session)
        if let token = consumption.token, let keys {
          try CredentialTable.put(
            token, kind: .callbackToken, name: Self.tokenName, issuer: "", of: app, sealedWith: keys, at: now,
            in: session)
        }
      }
      if let answerReadings {
        try PolicyTable.set(answerReadings: answerReadings.ids, of: app, at: now, in: session)
      }
      if let answerClients { try PolicyTable.set(answerClients: answerClients, of: app, at: now, in: session) }
      try author.note("app.set", of: app.bundleID, plan.changes.joined(separator: "; "), at: now, in: session)
    }
  }
}

extension AccessHold {
  package var summary: String { self == .off ? "off" : "\(hours) hours" }
}
