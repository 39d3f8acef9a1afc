package import Ledger
import Runtime
package import Time

/// A filter of outbox messages in addition to the app, for listing, replay and giving up.
package struct OutboxFilter: Sendable {
  package var proof: TrustLevel?
  /// A part of the last error.
  package var reason: String?
  /// Only messages that have waited longer than this.
  package var olderThan: Interval?
  /// Only messages that came within this time.
  package var newerThan: Interval?

  package init() {}

  package var isEmpty: Bool { proof == nil && reason == nil && olderThan == nil && newerThan == nil }

  /// The text of the filter for the audit.
  var summary: String {
    [
      proof.map { "class \($0.name)" }, reason.map { "reason \($0)" }, olderThan.map { "older than \($0.asOption)" },
      newerThan.map { "newer than \($0.asOption)" },
    ].compactMap(\.self).joined(separator: ", ")
  }

  package func narrow(_ selection: inout OutboxTable.Selection, at now: Timestamp) {
    selection.proof = proof
    selection.reason = reason
    selection.createdBefore = olderThan.map { now - $0 }
    selection.createdSince = newerThan.map { now - $0 }
  }
}

extension TrustLevel {
  package var name: String {
    switch self {
    case .proven: "proven"
    case .claimed: "claimed"
    case .unproven: "unproven"
    }
  }
}
