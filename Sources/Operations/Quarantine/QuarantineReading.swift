import Adapter
import Intake
import Ledger
import Time

/// What a refused message comes to when it is read again, with today's apps and roots.
struct QuarantineReading {
  enum Outcome: Sendable {
    case accepted(LedgerEntry)
    /// With its entry if it is a notification: it may still have to be forwarded.
    case refused(LedgerEntry.QuarantineReason, LedgerEntry? = nil)
    /// Its body does not open, or is damaged; why.
    case unreadable(String)
  }

  let intake: IngestDecider
  let directory: AppRegistrySnapshot
  /// What is forwarded is forwarded as of then.
  let startedAt: Timestamp

  /// Time counts as of the message's arrival, as it does when the inbox is read again.
  func outcome(of kept: QuarantinedMessage) -> Outcome {
    let message = kept.message
    do throws(MessageError) {
      switch message.kind {
      case .notification, .notificationHistory:
        let decision = try intake.notification(
          message, ReceivedBody(message.body), notedApp: kept.claimedApp.isEmpty ? nil : kept.claimedApp,
          forwardsDenied: true, directory: directory)
        var entry = decision.entry
        // An operator asks for it, whatever the stage; what was forwarded already is not forwarded again.
        entry.addressee?.epoch = nil
        entry.addressee?.at = startedAt
        switch entry.content {
        case .accepted: return .accepted(entry)
        case .quarantined(let refusal):
          return .refused(refusal, isDenied(message, entry) ? entry : nil)
        }
      case .evidence, .verifyReceiptAnswer, .apiAnswer, .verifiedReceipt:
        guard let app = directory[kept.claimedApp] else {
          return refused(MessageError(.authentic, .unknownApp, "the app is not registered"))
        }
        return .accepted(try intake.decision(on: message, about: app).entry)
      }
    } catch {
      return refused(error)
    }
  }

  /// Whether it is what `--forward-unproven deny` set aside, for an operator to decide.
  ///
  /// Elsewhere what is refused was forwarded when it came, or there was no room for it. What a comparison with Apple found was
  /// taken by somebody when it came.
  private func isDenied(_ message: InboxMessage, _ entry: LedgerEntry) -> Bool {
    guard message.kind == .notification, let addressee = entry.addressee else { return false }
    return directory.apps.contains { $0.id == addressee.scope.app && !directory.forwardsUnproven($0) }
  }

  private func refused(_ unread: MessageError) -> Outcome {
    let refusal = unread.withoutSecrets(directory.secretFilter)
    return .refused(
      LedgerEntry.QuarantineReason(
        source: refusal.quarantine ?? .unproven, code: refusal.code, detail: refusal.detail,
        claimedApp: refusal.claimedApp))
  }
}
