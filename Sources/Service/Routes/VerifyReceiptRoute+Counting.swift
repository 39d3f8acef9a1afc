import Answering
import HTTPServer
import Intake
import Ledger
import Purchases
import Runtime
import Shadow

/// What is counted of the calls: how long each side took, and who answered.
extension VerifyReceiptRoute {
  /// Counts a call that Apple did not answer, for the app that what we know of the call names.
  func noteUnanswered(
    _ body: [UInt8], of caller: CallerClass, _ draft: FallbackResponse?, _ app: String?, _ environment: Environment
  ) async {
    var name = draft?.receipt?.bundleID ?? app
    // Of anonymous callers the secret was looked at before. A long body would wait for those of strangers.
    if name == nil, caller != .anonymous, body.count <= Self.short { name = await self.app(of: body) }
    note(.apple, of: name, environment, took: nil)
  }

  /// Counts how long an answer took, nil for none, if the app is registered.
  func note(
    _ side: ResponseTimeStatistics.Side, of bundleID: String?, _ environment: Environment, took time: Duration?
  ) {
    guard let app = bundleID.flatMap({ registry.directory[$0] }) else { return }
    times.note(side, in: AppScope(app: app.id, environment: environment), took: time)
  }

  /// Counts an answer by its source, and why it was not the ledger's alone.
  func note(
    _ source: ResponseSource?, _ status: Int64?, _ reasons: [StalenessReason], _ environment: Environment
  ) {
    let name = source?.rawValue ?? "status"
    metrics.answers[environment.rawValue, name].increment()
    for reason in Set(reasons.map(\.name)) { metrics.staleAnswers[environment.rawValue, reason].increment() }
    logger.debug(
      "verifyReceipt was answered",
      metadata: [
        "environment": "\(environment.rawValue)", "answeredBy": "\(name)", "status": "\(status ?? 0)",
        "notFresh": "\(Set(reasons.map(\.name)).sorted().joined(separator: " "))",
      ])
  }
}
