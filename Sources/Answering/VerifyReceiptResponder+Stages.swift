import Ledger
import Purchases
import Receipts
import Rollout

/// The stages of a call.
///
/// Another process may roll an app back at any time, while this process is suspended.
extension VerifyReceiptResponder {
  /// Returns the request's scope, by recent stages; `nil` if Apple must respond.
  func placed(_ posted: ParsedCall, in environment: Environment) async -> (CallScope, AppRegistrySnapshot)? {
    // Checked before the stages are read, so that they are at least as new.
    let isCurrent = directory.hasCurrentStages(settings.stagesTrusted)
    var apps = directory.current()
    if let bundleID = posted.proven?.bundleID, apps[bundleID] == nil {
      // With a slow database, a new registration is unknown, so Apple must respond.
      let found = await withTimeout(within: settings.stagesWithin, otherwise: AppRegistrySnapshot?.none) {
        [directory] in
        await directory.refreshed()
      }
      guard let found else { return nil }
      apps = found
    }
    // If Apple responds anyway, do not wait for the database.
    guard let known = place(of: posted, in: environment, apps) else { return nil }
    if isCurrent || !mayBeTakenBack(known, apps, in: environment) { return (known, apps) }
    let knowsStages = await knowsStages()
    apps = directory.current()
    guard let place = place(of: posted, in: environment, apps) else { return nil }
    if knowsStages || !mayBeTakenBack(place, apps, in: environment) { return (place, apps) }
    failed(StagesUnavailable())
    return nil
  }

  private func place(of posted: ParsedCall, in environment: Environment, _ apps: AppRegistrySnapshot) -> CallScope? {
    // A receipt that names an app belongs only to that one, regardless of the request's secret.
    let app = posted.bundleID.map { apps[$0] } ?? self.app(ofSecretIn: posted.request, apps)
    return CallScope(app, posted, in: environment, apps)
  }

  /// Whether the app may be rolled back by now.
  ///
  /// In `complete` old stages apply until newer ones are read, because verifyReceipt may be switched off and no other
  /// source exists.
  private func mayBeTakenBack(_ place: CallScope, _ apps: AppRegistrySnapshot, in environment: Environment) -> Bool {
    place.flag?.stage.asksVerifyReceipt ?? apps.asksVerifyReceipt(in: environment)
  }

  /// Whether a call is still Switchyard's, by recent stages.
  func isStillOurs(_ place: CallScope, in environment: Environment) async -> Bool {
    guard let app = place.app, let flag = place.flag else { return true }
    let scope = AppScope(app: app.id, environment: environment)
    if directory.current().flag(of: scope)?.stage.asksVerifyReceipt == false { return true }
    guard await knowsStages() else {
      failed(StagesUnavailable())
      return false
    }
    return directory.current().flag(of: scope)?.answersAll(answeredBy: flag) ?? false
  }

  /// Returns when Switchyard's response took too long and Apple can be asked: sooner while the database does not
  /// respond.
  func patienceEnds() async {
    let begun = ContinuousClock.now
    try? await Task.sleep(for: settings.silence)
    while !Task.isCancelled, ContinuousClock.now - begun < settings.answerWithin,
      directory.hasCurrentStages(settings.silence)
    {
      try? await Task.sleep(for: Self.lookedEvery)
    }
  }

  private static let lookedEvery = Duration.milliseconds(100)

  /// Whether the stages are recent; reads them again if they are not.
  private func knowsStages() async -> Bool {
    let trusted = settings.stagesTrusted
    if directory.hasCurrentStages(trusted) { return true }
    await withTimeout(within: settings.stagesWithin, otherwise: ()) { [directory] in _ = await directory.refreshed() }
    // A parallel read may have confirmed them meanwhile.
    return directory.hasCurrentStages(trusted)
  }
}
