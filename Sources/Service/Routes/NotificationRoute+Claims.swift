import Adapter
import HTTPServer
import Intake
import Ledger
import Purchases
import Runtime

/// What strangers claim with an app's shared secret: how often from an address, and how much of an app in a day.
extension NotificationRoute {
  /// Whether it is no claim of a stranger's whose address has sent too many.
  func mayClaim(_ decision: IngestDecider.IngestDecision, _ message: InboxMessage, from head: HTTPRequestHead) -> Bool {
    guard case .accepted = decision.entry.content, decision.entry.proof != .proven else { return true }
    let sender = sender(of: head)
    return sources.mayStandForApple(sender) || claims.take(message.body.count, from: sender, at: message.receivedAt)
  }

  /// Whether neither Apple's networks nor the operator vouch for who sent it.
  func isOfStranger(_ head: HTTPRequestHead) -> Bool { !isFromApple(head) && !isVouchedFor(sender(of: head)) }

  /// The app of which a stranger claims something; nil for every message that uses nothing of the stock for claims.
  func claimedOfStranger(_ decision: IngestDecider.IngestDecision, from head: HTTPRequestHead) -> String? {
    guard case .accepted = decision.entry.content, decision.entry.proof != .proven else { return nil }
    return isOfStranger(head) ? decision.reading?.app : nil
  }

  func stockUsed(of app: String, _ head: HTTPRequestHead) -> HTTPResponse {
    metrics.messages["notifications", "", "notKept"].increment()
    metrics.refusals["notifications", "claimedStockUsed"].increment()
    metrics.claimedStockRefused[app].increment()
    if let others = claimPace.turn(of: "quota of \(app)") {
      logger.warning(
        "V1 notifications refused: the daily quota for unconfirmed ones is used up",
        metadata: [
          "app": "\(app)", "address": "\(sender(of: head))", "refusedSinceLastLine": "\(others + 1)",
          "advice": "\(RateLimitedSender.advice)",
        ])
    }
    return .claimedStockUsed
  }

  /// Says which address is held to the rate of strangers' claims: it may be a proxy that passes on what Apple sends.
  func tell(of sender: PeerAddress) {
    guard let others = claimPace.turn(of: "claims") else { return }
    logger.warning(
      "V1 notifications refused with 429",
      metadata: [
        "address": "\(sender)", "refusedSinceLastLine": "\(others + 1)", "advice": "\(RateLimitedSender.advice)",
      ])
  }
}
