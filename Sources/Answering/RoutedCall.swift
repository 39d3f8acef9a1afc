import Ledger
import LegacyAnswers
import Mappings
import Purchases
import Receipts
import Rollout

/// The app and stage of a request, which decide the source of its response.
struct CallScope: Sendable {
  /// `nil` for an unregistered or unknown app.
  let app: App?
  let flag: StageRecord?

  init(app: App, flag: StageRecord) { (self.app, self.flag) = (app, flag) }

  /// Returns `nil` if Apple must respond.
  ///
  /// The stage is that of the receipt's app, otherwise that of the shared secret's app. A request without either is
  /// Apple's as long as any app in this environment uses Apple's responses, because it may be that one's.
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
  /// Whether Switchyard responds for every app in this environment.
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

struct RoutedCall: Sendable {
  let call: VerifyReceiptCall
  let posted: ParsedCall
  let place: CallScope
  let apps: AppRegistrySnapshot
  /// Whether Apple was asked without a response.
  var isWithoutApple = false

  /// Whether Apple's verifyReceipt may be asked: before `complete`.
  ///
  /// For an unregistered app it may be asked for the operator's own callers, and for all callers until every app is in
  /// `complete`, because a forgotten app must not break.
  var mayAskApple: Bool {
    if isWithoutApple { return false }
    if let flag = place.flag { return flag.stage.asksVerifyReceipt }
    return call.isNamed || apps.asksVerifyReceipt(in: call.environment)
  }

  func outcome(of row: ResponseStatusTable.Row, _ reasons: [StalenessReason] = []) -> CallOutcome {
    // The right secret may be one that this process cannot open, which must not cause a rejection.
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

  /// Returns the outcome of a failure: Apple is asked if it may be.
  ///
  /// - Parameter status: 21005 for a full queue, which is not a local failure: strangers can fill it.
  func failed(_ status: Int64) -> CallOutcome {
    mayAskApple
      ? ask(.status(status), [], isOwnFailure: status != 21_005)
      : .answered(ComposedResponse(status: status, in: call.environment))
  }
}

/// A request that passed every check without data.
struct ValidatedCall: Sendable {
  var what: RoutedCall
  let app: App
  let receipt: Receipt
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
