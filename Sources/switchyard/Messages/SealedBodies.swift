import Database
import Intake
import Ledger
import Runtime
import Signing

/// Opens stored bodies for people, with secrets removed.
struct SealedBodies {
  let vault: BodyVault
  private let secrets: SecretFilter

  init(
    _ arguments: ParsedArguments, _ options: DatabaseOptions, _ connection: Connection, _ terminal: Terminal
  ) async throws {
    let keys = try await MasterKeyOptions(arguments, database: options).keys(for: connection, terminal)
    vault = BodyVault(keys)
    secrets = try await connection.read { session throws(DatabaseError) in
      try AppTable.directory(with: keys, in: session).secretFilter
    }
  }

  func shown(_ body: [UInt8]) -> [UInt8] { ShownBody.bytes(body, secrets) }

  /// Reports the messages whose bodies do not open, with the reasons.
  static func tell(_ unreadable: [(Digest, String)], _ terminal: Terminal) {
    for (digest, reason) in unreadable { terminal.note("\(digest.hex.prefix(12)): \(reason)") }
  }
}
