import Adapter
import Backfill
import Intake
import JSON
import Ledger
import Purchases
import Receipts
import Signing
import Time

extension RowClassifier {
  /// A receipt has to be proven: only by that does it say who belongs together.
  func receipt(_ text: [UInt8], _ row: RowMetadata) -> RowOutcome {
    let reading = intake.receipts.read(text)
    switch reading {
    case .unreadable(let refusal), .refused(_, let refusal): return .rejected(RejectReason(refusal.code), Self.nobody)
    case .verified(let verified): return proven(verified.receipt, reading, text, row)
    }
  }

  private func proven(_ receipt: Receipt, _ reading: ReceiptReadResult, _ text: [UInt8], _ row: RowMetadata)
    -> RowOutcome
  {
    let app: App
    do throws(RejectReason) { app = try self.app(claimed: receipt.bundleID, row) } catch {
      return .rejected(error, Self.nobody)
    }
    guard let body = ReceiptReader.base64(of: text).map({ Array($0.utf8) }) else {
      return .rejected(RejectReason(.notAReceipt), Self.nobody)
    }
    let place = MigrationAccountTable.CountScope(app: app.id, environment: receipt.environment)
    let digest = MigrationStep.Mark(Digest.sha256(body).bytes)
    guard !receipt.originalTransactionIDs.isEmpty else {
      return .content(
        MigrationStep.Content(
          digest: digest, user: row.mark, place: place, entry: nil, ids: [], isActive: false))
    }
    // An environment that a receipt signs is never said anew: the same receipt is then the same message.
    let environment = receipt.environment == nil ? receipt.claimedEnvironment ?? claims.environment : nil
    let message = InboxMessage(
      .evidence, body, app: app.bundleID,
      claim: SubmissionMetadata(environment: environment, userID: row.userID, isStored: row.userID != nil),
      receivedAt: claims.receivedAt)
    do throws(MessageError) {
      let decision = try intake.decision(on: message, reading, about: app)
      return content(of: decision, app: app, digest: digest, row, isActive: isActive(receipt))
    } catch {
      // Nothing signed tells the environment of a receipt of iOS 6: Apple tells it, asked by its id.
      if error.code == MessageError.environmentUnknown, let id = receipt.originalTransactionIDs.first {
        return self.message(
          (["transactionId": .string(id)] as JSONObject).encoded(), claimed: receipt.bundleID, row, digest: digest)
      }
      return .rejected(RejectReason(word: error.code), place)
    }
  }

  /// How long after its end a subscription may have been renewed without the receipt's knowing.
  private static let patience = Interval.days(62)

  private func isActive(_ receipt: Receipt) -> Bool {
    let since = claims.receivedAt - Self.patience
    if let signedAt = receipt.signedAt, signedAt > since { return true }
    switch receipt {
    case .app(let receipt):
      return receipt.purchases.contains { $0.cancellationDate == nil && ($0.expiresDate ?? since) > since }
    case .transaction(let receipt): return (receipt.expiresDate ?? since) > since
    }
  }
}

extension RowClassifier.RowMetadata {
  /// What the user is remembered by in the accounts; nil where nobody says.
  var mark: MigrationStep.Mark? {
    guard let userID, !UserID.isNobody(userID) else { return nil }
    return MigrationStep.Mark(Digest.sha256(Array(userID.utf8)).bytes)
  }
}
