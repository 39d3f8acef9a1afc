import Ledger
import Purchases
import Receipts
import Rollout

/// By which stages a call is answered: an app may be taken back at any moment, in another process, while this one is suspended.
extension VerifyReceiptResponder {
  /// Whose request it is, by the stages of a moment ago; nil when it is Apple's to answer.
  func placed(_ posted: ParsedCall, in environment: Environment) async -> (CallScope, AppRegistrySnapshot)? {
    // Asked before the stages are read: they are at least as new then.
    let isCurrent = directory.hasCurrentStages(settings.stagesTrusted)
    var apps = directory.current()
    if let bundleID = posted.proven?.bundleID, apps[bundleID] == nil {
      // Whether it was registered meanwhile is not known where the database is slow: then it is Apple's.
      let found = await withTimeout(within: settings.stagesWithin, otherwise: AppRegistrySnapshot?.none) {
        [directory] in
        await directory.refreshed()
      }
      guard let found else { return nil }
      apps = found
    }
    // Where Apple answers anyway, nobody waits for the database.
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
    // A receipt that names an app is of that one alone, whatever secret comes with it.
    let app = posted.bundleID.map { apps[$0] } ?? self.app(ofSecretIn: posted.request, apps)
    return CallScope(app, posted, in: environment, apps)
  }

  /// Whether it may be Apple's by now.
  ///
  /// In `complete` old stages are worked by until newer ones are read: verifyReceipt may not answer any more, and nobody would.
  private func mayBeTakenBack(_ place: CallScope, _ apps: AppRegistrySnapshot, in environment: Environment) -> Bool {
    place.flag?.stage.asksVerifyReceipt ?? apps.asksVerifyReceipt(in: environment)
  }

  /// Whether a call that was ours to answer when it came is so still, by the stages of a moment ago.
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

  /// Returns when our answer took too long where Apple can be asked: soon while the database tells nothing at all.
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

  /// Whether the stages are those of a moment ago; reads them again if they are not.
  private func knowsStages() async -> Bool {
    let trusted = settings.stagesTrusted
    if directory.hasCurrentStages(trusted) { return true }
    await withTimeout(within: settings.stagesWithin, otherwise: ()) { [directory] in _ = await directory.refreshed() }
    // Somebody else's look may have confirmed them meanwhile.
    return directory.hasCurrentStages(trusted)
  }
}
