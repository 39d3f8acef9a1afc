import Adapter
import HTTPServer
import Intake
import Ledger
import Purchases

/// Beside whom a notification waits: for the forwarding, for what Apple is asked about, for room in quarantine.
extension NotificationRoute {
  /// The entry of a decision, with the queue in which ids wait that nothing vouches for.
  func placed(_ decision: IngestDecider.IngestDecision, from head: HTTPRequestHead) -> LedgerEntry {
    var entry = decision.entry
    entry.isFromApple = isFromApple(head)
    // Nobody but Apple can have been given this URL for another app.
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

  /// Ids of one stranger's message that Apple is asked about: a V1 body is about one customer, who has a few.
  private static let mostIDsOfStranger = 16

  /// Whether Apple signed it for another app than the URL is for.
  private func isOfAnotherApp(_ decision: IngestDecider.IngestDecision, _ entry: LedgerEntry) -> Bool {
    guard let refusal = decision.refusal, refusal.kind == .authentic, let named = refusal.claimedApp,
      case .quarantined(let kept) = entry.content, kept.source != .legacy, let addressee = entry.addressee
    else { return false }
    return registry.directory[named]?.id != addressee.scope.app
  }

  /// Whether it is a V1 notification for the app that it names, whose secret is not registered yet, or no more.
  ///
  /// From Apple's networks strangers' must not keep it from the back end.
  private func isOfAnUnknownSecret(_ decision: IngestDecider.IngestDecision, _ entry: LedgerEntry) -> Bool {
    let codes = [MessageError.Code.noSharedSecret, .wrongSharedSecret].map(\.rawValue)
    guard let refusal = decision.refusal, codes.contains(refusal.code), let named = refusal.claimedApp else {
      return false
    }
    return registry.directory[named]?.id == entry.addressee?.scope.app
  }
}

extension IngestDecider.IngestDecision {
  /// The source of an unproven message; nil for every other.
  ///
  /// A V1 message of an app without a registered shared secret does not count where Apple's own may come from: until the
  /// operator registers it they look like that, and they come from one address if the proxy is not named yet.
  func junkSource(from sender: PeerAddress, _ sources: IPAllowlist) -> QuarantineSource? {
    guard case .quarantined(let refusal) = entry.content, !refusal.source.isApple else { return nil }
    if refusal.code == MessageError.Code.noSharedSecret.rawValue, sources.mayStandForApple(sender) { return nil }
    return refusal.source
  }
}
