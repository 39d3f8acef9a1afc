package import Database
package import Ledger
package import Purchases
package import Time

/// Decides about ids of an app that have no history and get none by themselves: they are accepted as they are.
///
/// They hold up no stage from then on; an id that comes to stand so later does again.
package struct AcceptUnknownIDs: Sendable {
  /// Why the ids have no history.
  package enum Kind: Sendable {
    /// Apple's API does not know them (4040010).
    case unknown
    /// Their bulk migration was cancelled before Apple was asked about them.
    case cancelled

    /// For people.
    package var name: String {
      switch self {
      case .unknown: "unknown ids"
      case .cancelled: "ids of cancelled migrations"
      }
    }
  }

  package struct Plan: Sendable {
    package let scope: Scope
    package let bundleID: String
    package let ids: Int
  }

  private let kind: Kind
  private let bundleID: String
  private let environment: Environment

  package init(_ kind: Kind = .unknown, of bundleID: String, in environment: Environment) {
    self.kind = kind
    self.bundleID = bundleID
    self.environment = environment
  }

  package func plan(on connection: Connection) async throws -> Plan {
    let app = try await AppRecord.find(bundleID, connection).app
    let scope = Scope(app: app.id, environment: environment)
    let ids = try await connection.read { [kind] session throws(DatabaseError) in
      let accepted = try EvidenceTable.last(kind.evidence, of: scope, in: session)?.at ?? Milliseconds(.min)
      switch kind {
      case .unknown:
        return try WorkTable.unsettled(
          in: scope, createdBefore: Milliseconds(.min), unknownSince: accepted, session
        ).unknown
      case .cancelled:
        return try UnaskedIDs.read(
          in: scope, handedOutSince: Milliseconds(.max), cancelledAfter: accepted, session
        ).cancelled
      }
    }
    return Plan(scope: scope, bundleID: bundleID, ids: ids)
  }

  package func apply(
    _ plan: Plan, by author: Author, at now: Milliseconds, on connection: Connection
  ) async throws {
    try await connection.transaction { [kind] session throws(DatabaseError) in
      try EvidenceTable.add(kind.evidence, of: plan.scope, at: now, "\(plan.ids) accepted", in: session)
      try author.note(
        "rollout.decide", of: plan.bundleID, "\(plan.scope.environment.rawValue): \(plan.ids) \(kind.name) accepted",
        at: now, in: session)
    }
  }
}

extension AcceptUnknownIDs.Kind {
  fileprivate var evidence: EvidenceTable.Kind {
    switch self {
    case .unknown: .unknown
    case .cancelled: .cancelled
    }
  }
}
