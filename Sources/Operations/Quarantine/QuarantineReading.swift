import Adapter
import Intake
import Ledger
import Time

/// The result of reading a refused message again, with the present apps and roots.
struct QuarantineReading {
  enum Outcome: Sendable {
    case accepted(LedgerEntry)
    /// A notification has its entry, since it may still be forwarded.
    case refused(LedgerEntry.QuarantineReason, LedgerEntry? = nil)
    /// The body is damaged or does not open, with the reason.
    case unreadable(String)
  }

  let intake: IngestDecider
  let directory: AppRegistrySnapshot
  /// The time of forwarding.
  let startedAt: Timestamp

  /// Returns the outcome at the time of the message's arrival, as when the inbox is read again.
  func outcome(of kept: QuarantinedMessage) -> Outcome {
    let message = kept.message
    do throws(MessageError) {
      switch message.kind {
      case .notification, .notificationHistory:
        let decision = try intake.notification(
          message, ReceivedBody(message.body), notedApp: kept.claimedApp.isEmpty ? nil : kept.claimedApp,
          forwardsDenied: true, directory: directory)
        var entry = decision.entry
        // The operator requests it regardless of the stage. Messages are never forwarded twice.
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

  /// Whether `--forward-unproven deny` quarantined it for an operator's decision.
  ///
  /// Other refused messages were forwarded on arrival, or exceeded a limit. Ones from Apple's notification history were
  /// delivered to another receiver.
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
