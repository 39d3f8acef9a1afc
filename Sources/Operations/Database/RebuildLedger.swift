package import Adapter
package import Database
import Intake
package import Ledger
package import Runtime
package import Signing
package import Time

/// Derives purchases, customers and events again from the inbox, by this build's rules.
package struct RebuildLedger: Sendable {
  private let configuration: DatabaseConfiguration
  private let rebuild: Rebuild

  /// - Parameters:
  ///   - adapter: reads the messages with the present roots.
  ///   - progress: receives the number of read messages, on threads without a task.
  package init(
    _ configuration: DatabaseConfiguration, _ keys: Keyring, readBy adapter: MessageDecoder,
    progress: @escaping @Sendable (Int) -> Void
  ) {
    self.configuration = configuration
    rebuild = Rebuild(configuration, keys, progress: progress) { stored in
      do throws(MessageError) { return try adapter.findings(of: stored) } catch {
        // Otherwise holders of an old app's secret could create messages that stop every rebuild after a change of
        // rules.
        guard stored.isProven else { throw Rebuild.LeftOut(because: error.code) }
        throw RefusedMessage(digest: stored.message.digest, title: stored.title, app: stored.bundleID, refusal: error)
      }
    }
  }

  /// Returns the differences.
  ///
  /// Throws `RefusedMessage` if this build refuses a proven message in the inbox.
  package func plan(at now: Timestamp) async throws -> Rebuild.Rehearsal { try await rebuild.rehearse(now: now) }

  /// Exchanges the tables in one statement.
  ///
  /// Throws `RefusedMessage` before any change, `Rebuild.Failure` afterwards. The audit entry follows, since an
  /// exchange of tables ends its transaction.
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

/// A stored message that cannot be read again, although Apple signed or returned it.
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
