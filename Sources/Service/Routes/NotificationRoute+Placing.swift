import Adapter
import HTTPServer
import Intake
import Ledger
import Purchases

/// The queues of a notification: for forwarding, for lookups at Apple, and for space in quarantine.
extension NotificationRoute {
  /// Returns the entry of a decision, with the queue for lookups of its unverified IDs.
  func placed(_ decision: IngestDecider.IngestDecision, from head: HTTPRequestHead) -> LedgerEntry {
    var entry = decision.entry
    entry.isFromApple = isFromApple(head)
    // Only Apple can have this URL for another app.
    if isOfAnotherApp(decision, entry), !mayBeApple(head) { entry.addressee = nil }
    if entry.isFromApple, isOfAnUnknownSecret(decision, entry) { entry.addressee?.proof = .claimed }
    guard entry.proof != .proven, let findings = decision.reading?.findings else { return entry }
    let sender = sender(of: head)
    if entry.isFromApple {
      entry.claimedIDs = .first
    } else if isVouchedFor(sender) {
      entry.claimedIDs = .next
    } else {
      entry.isOfStranger = true
      let count = min(findings.claimedOriginals.count, Self.mostIDsOfStranger)
      entry.claimedIDs = .behind(atMost: claimedIDs.take(count, from: sender, of: findings.app))
    }
    return entry
  }

  /// The number of IDs to look up for one stranger's message; a V1 body is about one customer with a few.
  private static let mostIDsOfStranger = 16

  private func isOfAnotherApp(_ decision: IngestDecider.IngestDecision, _ entry: LedgerEntry) -> Bool {
    guard let refusal = decision.refusal, refusal.kind == .authentic, let named = refusal.claimedApp,
      case .quarantined(let kept) = entry.content, kept.source != .legacy, let addressee = entry.addressee
    else { return false }
    return registry.directory[named]?.id != addressee.scope.app
  }

  /// Whether it is a V1 notification whose app has no registered secret, or no longer this one.
  ///
  /// From Apple's networks, strangers' messages must not keep it from the back end.
  private func isOfAnUnknownSecret(_ decision: IngestDecider.IngestDecision, _ entry: LedgerEntry) -> Bool {
    let codes = [MessageError.Code.noSharedSecret, .wrongSharedSecret].map(\.rawValue)
    guard let refusal = decision.refusal, codes.contains(refusal.code), let named = refusal.claimedApp else {
      return false
    }
    return registry.directory[named]?.id == entry.addressee?.scope.app
  }
}

extension IngestDecider.IngestDecision {
  /// Returns the source of an unproven message; `nil` for every other.
  ///
  /// A V1 message of an app without a registered shared secret does not count where Apple's own may come from. Until
  /// registration, Apple's messages look the same, and an unnamed proxy gives them one address.
  func junkSource(from sender: PeerAddress, _ sources: IPAllowlist) -> QuarantineSource? {
    guard case .quarantined(let refusal) = entry.content, !refusal.source.isApple else { return nil }
    if refusal.code == MessageError.Code.noSharedSecret.rawValue, sources.mayStandForApple(sender) { return nil }
    return refusal.source
  }
}
