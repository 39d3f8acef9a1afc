import Ledger
import LegacyAnswers
import Mappings
import Purchases
import Receipts
import Rollout

/// Whose request it is, where that decides who answers.
struct CallScope: Sendable {
  /// Nil: an app that is not registered, or nobody knows whose.
  let app: App?
  let flag: StageRecord?

  init(app: App, flag: StageRecord) { (self.app, self.flag) = (app, flag) }

  /// Nil when it is Apple's to answer.
  ///
  /// By the stage of the app that the receipt names; of a request that names none by that of its shared secret. What
  /// cannot be told apart is Apple's as long as any app's answers are in this environment: it may be of that one.
  init?(_ app: App?, _ posted: ParsedCall, in environment: Environment, _ apps: AppRegistrySnapshot) {
    self.app = app
    flag = app.flatMap { apps.flag(of: AppScope(app: $0.id, environment: environment)) }
    if app != nil {
      guard let answers = flag?.stage.answers, answers != .apple else { return nil }
    } else if posted.bundleID == nil {
      guard apps.leavesNothingToApple(in: environment) else { return nil }
    }
  }
}

extension AppRegistrySnapshot {
  /// Whether every app's verifyReceipt is answered by us in this environment.
  func leavesNothingToApple(in environment: Environment) -> Bool {
    !apps.contains { app in
      flag(of: AppScope(app: app.id, environment: environment)).map { $0.stage.answers != .ledger } ?? false
    }
  }
}

extension AppRegistrySnapshot {
  /// Whether Apple's verifyReceipt is asked for any app in this environment.
  func asksVerifyReceipt(in environment: Environment) -> Bool {
    apps.contains { flag(of: AppScope(app: $0.id, environment: environment))?.stage.asksVerifyReceipt == true }
  }
}

/// A request whose answer is ours to decide.
struct RoutedCall: Sendable {
  let call: VerifyReceiptCall
  let posted: ParsedCall
  let place: CallScope
  /// The apps as they were when it came.
  let apps: AppRegistrySnapshot
  /// Whether Apple was asked, and did not answer.
  var isWithoutApple = false

  /// Whether Apple's verifyReceipt may be asked: before `complete`; about an app that nobody registered for the operator's
  /// own callers, and for everybody until every app is in `complete`: a forgotten app must not break.
  var mayAskApple: Bool {
    if isWithoutApple { return false }
    if let flag = place.flag { return flag.stage.asksVerifyReceipt }
    return call.isNamed || apps.asksVerifyReceipt(in: call.environment)
  }

  func outcome(of row: ResponseStatusTable.Row, _ reasons: [StalenessReason] = []) -> CallOutcome {
    // The right secret may be the one that this process has no key for: nobody is refused for that.
    if row.check == .secret, let app = place.app, apps.hasUnopenedSecret(app) { return failed(21_009) }
    return switch row.answer {
    case .status(let status):
      .answered(ComposedResponse(status: status, in: call.environment, reasons: reasons))
    case .askApple(let status):
      mayAskApple
        ? ask(.status(status), reasons)
        : .answered(ComposedResponse(status: status, in: call.environment, reasons: reasons))
    }
  }

  func ask(
    _ content: FallbackResponse.Content, _ reasons: [StalenessReason], isOwnFailure: Bool = false
  ) -> CallOutcome {
    .askApple(
      FallbackResponse(
        content: content, place: place, receipt: SignedReceipt(posted), environment: call.environment,
        reasons: reasons, isOwnFailure: isOwnFailure))
  }

  /// We cannot answer: Apple is asked where it may be.
  ///
  /// - Parameter status: 21005 for a line that is full, which is no failure of ours: strangers can fill it.
  func failed(_ status: Int64) -> CallOutcome {
    mayAskApple
      ? ask(.status(status), [], isOwnFailure: status != 21_005)
      : .answered(ComposedResponse(status: status, in: call.environment))
  }
}

/// A request that passed every check that takes no data.
struct ValidatedCall: Sendable {
  var what: RoutedCall
  let app: App
  let receipt: Receipt
  /// Of the receipt.
  let ids: [String]
  let found: RequestValidation
  let key: ResponseCacheKey

  init(_ what: RoutedCall, _ app: App, _ receipt: Receipt, _ found: RequestValidation, key: ResponseCacheKey) {
    self.what = what
    self.app = app
    self.receipt = receipt
    self.found = found
    self.key = key
    ids = receipt.originalTransactionIDs
  }

  var environment: Environment { what.call.environment }
  var isNamed: Bool { what.call.isNamed }
}
