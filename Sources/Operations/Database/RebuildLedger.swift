package import Adapter
package import Database
import Intake
package import Ledger
package import Runtime
package import Signing
package import Time

/// Derives purchases, customers and events anew from the inbox, by the rules of this build.
package struct RebuildLedger: Sendable {
  private let configuration: DatabaseConfiguration
  private let rebuild: Rebuild

  /// - Parameters:
  ///   - adapter: reads the messages again, with today's roots.
  ///   - progress: hears how many messages were read so far, from threads that belong to no task.
  package init(
    _ configuration: DatabaseConfiguration, _ keys: Keyring, readBy adapter: MessageDecoder,
    progress: @escaping @Sendable (Int) -> Void
  ) {
    self.configuration = configuration
    rebuild = Rebuild(configuration, keys, progress: progress) { stored in
      do throws(MessageError) { return try adapter.findings(of: stored) } catch {
        // Whoever has an old app's secret could else make messages that end every rebuild after the next change of rules.
        guard stored.isProven else { throw Rebuild.LeftOut(because: error.code) }
        throw RefusedMessage(digest: stored.message.digest, title: stored.title, app: stored.bundleID, refusal: error)
      }
    }
  }

  /// What would be gone and what new; `RefusedMessage` when this build refuses a proven one that it took.
  package func plan(at now: Timestamp) async throws -> Rebuild.Rehearsal { try await rebuild.rehearse(now: now) }

  /// Exchanges the tables at once; `RefusedMessage` before anything is changed, `Rebuild.Failure` afterwards.
  ///
  /// The audit entry follows the exchange: an exchange of tables ends the transaction that it is made in.
  package func apply(by author: AuditContext, at now: Timestamp) async throws -> Rebuild.Summary {
    let summary = try await rebuild.run(now: now)
    let connection = try await Connection.open(configuration)
    try await connection.transaction { session throws(DatabaseError) in
      let leftOut = summary.refused.count > 0 ? ", \(summary.refused.count) left out" : ""
      try author.note("db.rebuild", of: "database", "\(summary.messages) messages\(leftOut)", at: now, in: session)
    }
    await connection.close()
    return summary
  }
}

/// A stored message that cannot be read any more, although Apple signed it or gave it to us.
package struct RefusedMessage: ExitStatusError, CustomStringConvertible {
  package let digest: Digest
  package let title: String
  package let app: String
  package let refusal: MessageError

  package var exitStatus: ExitStatus { .failed }

  package var description: String {
    "the message \(digest.hex) (\(title) of \(app)) is refused by this build and these roots: \(refusal)"
  }
}
