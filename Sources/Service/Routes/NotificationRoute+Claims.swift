import Adapter
import HTTPServer
import Intake
import Ledger
import Purchases
import Runtime

/// The limits of strangers' claims with an app's shared secret: the rate of an address, and the daily bytes of an app.
extension NotificationRoute {
  /// Whether the message is accepted: false for a stranger's claim above the rate of its address.
  func mayClaim(_ decision: IngestDecider.IngestDecision, _ message: InboxMessage, from head: HTTPRequestHead) -> Bool {
    guard case .accepted = decision.entry.content, decision.entry.proof != .proven else { return true }
    let sender = sender(of: head)
    return sources.mayStandForApple(sender) || claims.take(message.body.count, from: sender, at: message.receivedAt)
  }

  /// Whether the sender is neither in Apple's networks nor trusted by the operator.
  func isOfStranger(_ head: HTTPRequestHead) -> Bool { !isFromApple(head) && !isVouchedFor(sender(of: head)) }

  /// Returns the app of a stranger's claim; `nil` for every message that uses no claim quota.
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

  /// Logs the address that exceeds the rate of claims, which may be a proxy that passes on Apple's messages.
  func tell(of sender: PeerAddress) {
    guard let others = claimPace.turn(of: "claims") else { return }
    logger.warning(
      "V1 notifications refused with 429",
      metadata: [
        "address": "\(sender)", "refusedSinceLastLine": "\(others + 1)", "advice": "\(RateLimitedSender.advice)",
      ])
  }
}
