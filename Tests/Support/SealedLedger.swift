package import Database
package import Ledger
package import Signing
package import Time

extension Keyring {
  /// Under which everything is sealed that a test process writes itself.
  package static let ofTests = Keyring(current: .generate())
}

extension LedgerStore {
  package convenience init(pool: Pool) { self.init(pool: pool, keys: .ofTests) }
}

extension BodyVault {
  package static let ofTests = BodyVault(.ofTests)
}

extension InboxTable {
  /// The newest messages with their bodies; those of one digest prefix, when one is given.
  package static func newest(
    limit: Int, digestPrefix: [UInt8]?, in session: borrowing Session
  ) throws(DatabaseError) -> [StoredMessage] {
    var messages: [StoredMessage] = []
    for part in BodyPage.parts(of: try list(limit: limit, digestPrefix: digestPrefix, in: session), size: \.size) {
      messages += try self.messages(of: part, .ofTests, in: session)
    }
    return messages
  }
}

extension QuarantineTable {
  /// The messages that are listed so, with their bodies: the first of them, as many as may be in memory at once.
  package static func page(
    after: (Timestamp, Digest)?, code: String?, digestPrefix: [UInt8]?, limit: Int, in session: borrowing Session
  ) throws(DatabaseError) -> [QuarantinedMessage] {
    let listed = try list(after: after, code: code, digestPrefix: digestPrefix, limit: limit, in: session)
    return try messages(of: Array(listed.prefix(BodyPage.count(of: listed.map(\.size)))), .ofTests, in: session)
  }
}
