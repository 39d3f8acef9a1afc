import Answering
import HTTPServer
import Intake
import Ledger
import Purchases
import Runtime
import Shadow

/// The metrics of calls: the time of each side, and the source of the response.
extension VerifyReceiptRoute {
  /// Counts a call without a response of Apple, for the app that the call's known data names.
  func noteUnanswered(
    _ body: [UInt8], of caller: CallerClass, _ draft: FallbackResponse?, _ app: String?, _ environment: Environment
  ) async {
    var name = draft?.receipt?.bundleID ?? app
    // The secret of anonymous callers was searched before. A long body would wait for those of strangers.
    if name == nil, caller != .anonymous, body.count <= Self.short { name = await self.app(of: body) }
    note(.apple, of: name, environment, took: nil)
  }

  /// Counts the time of a response, `nil` without one, if the app is registered.
  func note(
    _ side: ResponseTimeStatistics.Side, of bundleID: String?, _ environment: Environment, took time: Duration?
  ) {
    guard let app = bundleID.flatMap({ registry.directory[$0] }) else { return }
    times.note(side, in: AppScope(app: app.id, environment: environment), took: time)
  }

  /// Counts a call by the status in the response, or the reason without a response.
  func count(_ status: String, of bundleID: String?, _ environment: Environment) {
    metrics.receiptCalls[label(of: bundleID), environment.rawValue, status].increment()
  }

  /// Counts a response by its source, and by the reason why it was not only the ledger's.
  func note(
    _ source: ResponseSource?, _ status: Int64?, _ reasons: [StalenessReason], of bundleID: String?,
    _ environment: Environment
  ) {
    let (name, app) = (source?.rawValue ?? "status", label(of: bundleID))
    metrics.answers[app, environment.rawValue, name].increment()
    for reason in Set(reasons.map(\.name)) { metrics.staleAnswers[app, environment.rawValue, reason].increment() }
    logger.debug(
      "verifyReceipt was answered",
      metadata: [
        "environment": "\(environment.rawValue)", "answeredBy": "\(name)", "status": "\(status ?? 0)",
        "notFresh": "\(Set(reasons.map(\.name)).sorted().joined(separator: " "))",
      ])
  }

  /// A registered app's bundle ID; empty for others, which callers can name without limit.
  private func label(of bundleID: String?) -> String {
    bundleID.flatMap { registry.directory[$0]?.bundleID } ?? ""
  }
}
