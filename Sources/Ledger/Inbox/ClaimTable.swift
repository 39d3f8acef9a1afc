import Database
import Purchases
import Signing

/// `claims`: submission metadata of messages in the inbox and in quarantine that differs from the message's own row.
enum ClaimTable {
  private static let insert = BulkInsert(
    into: "INSERT INTO claims (digest, environment, user_id, is_stored) VALUES",
    then: "ON DUPLICATE KEY UPDATE digest = VALUES(digest)")

  static func note(_ claims: [(Digest, SubmissionMetadata)], in session: borrowing Session) throws(DatabaseError) {
    let rows: [[SQLValue]] = claims.map { digest, claim in
      [
        .bytes(digest.bytes), .integer(Int64(claim.environment?.code ?? nobodySaid)), claim.userID.sqlValue,
        .integer(claim.isStored ? 1 : 0),
      ]
    }
    _ = try session.insert(insert, rows: rows.inKeyOrder(columns: 1))
  }

  /// Returns the metadata of a row with the columns `claimed_environment`, `user_id` and `is_stored`, or `nil` without
  /// metadata.
  static func claim(of row: Row) throws(DatabaseError) -> SubmissionMetadata? {
    guard let environment = try row.optionalInt("claimed_environment") else { return nil }
    return SubmissionMetadata(
      environment: environment == nobodySaid ? nil : try Environment(code: environment),
      userID: try row.optionalText("user_id"), isStored: try row.int("is_stored") == 1)
  }

  private static let nobodySaid = 0
}
