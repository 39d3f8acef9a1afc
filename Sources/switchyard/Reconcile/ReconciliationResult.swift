import AppStore
import JSON
import Ledger
import Operations
import Purchases
import Reconciliation
import Runtime
import Service
import Time

/// The printed result of comparing one app in one environment.
struct ReconciliationResult {
  let place: ReconciliationTarget
  /// `nil` if the ledger failed.
  let report: ReconciliationReport?
  /// The reasons why parts of it ended early.
  let failures: [any Error]

  init(_ place: ReconciliationTarget, _ reconciler: Reconciler, _ plan: Reconciler.Plan) async {
    self.place = place
    do {
      let report = try await reconciler.run(place, plan)
      (self.report, failures) = (report, report.unfinished.map(\.error))
    } catch {
      (report, failures) = (nil, [error])
    }
  }

  var isComplete: Bool { report?.isComplete ?? false }

  /// The notes for the operator in addition to the figures, with their fixes.
  var notes: [String] {
    let (app, name) = (place.app.bundleID, "\(place.app.bundleID) \(place.environment.rawValue)")
    var notes: [String] = []
    if let report {
      for unfinished in report.unfinished {
        notes.append("\(name): \(unfinished)")
        if let failure = unfinished.error as? APIError { notes.append("next: \(failure.nextStep)") }
      }
      if report.setAside > 0 {
        let count = report.setAside.counted("notification") + " of Apple's history"
        notes.append("\(name): in quarantine, so not used: \(count); `switchyard quarantine list` shows why")
      }
      if report.pending > 0 {
        notes.append(
          "\(name): \(report.pending) customers are asked about later, by `serve` or `switchyard seeds run`; "
            + "`switchyard seeds status \(app) --ids --state waiting` shows why")
      }
      if report.failed > 0 {
        notes.append(
          "\(name): \(report.failed) customers were given up; `switchyard seeds status \(app) --ids --state failed` shows why"
        )
      }
    } else {
      notes += failures.map { "\(name): \($0)" }
    }
    return notes
  }

  static func table(_ outcomes: [Self], isDry: Bool) -> TextTable {
    var table = TextTable([
      .init("APP"), .init("ENVIRONMENT"), .init("SENT", .right), .init("ARRIVED", .right),
      .init(isDry ? "MISSING" : "RECOVERED", .right), .init("QUARANTINED", .right),
      .init(isDry ? "TO ASK" : "ASKED", .right), .init("UNKNOWN", .right), .init("PENDING", .right),
      .init("LEFT", .right),
    ])
    for outcome in outcomes {
      var row = [outcome.place.app.bundleID, outcome.place.environment.rawValue]
      if let report = outcome.report {
        let sent = ReconciliationReport.sum(report.notifications)
        row += [
          sent.expected, sent.arrived, report.takenIn, report.setAside, report.lookedUp, report.unknownToApple,
          report.pending, report.left + report.postponed + report.failed,
        ].map { "\($0)" }
      } else {
        row += Array(repeating: "-", count: 8)
      }
      table.add(row)
    }
    return table
  }

  func json(isDry: Bool) -> JSONObject {
    var object: JSONObject = [
      "app": .string(place.app.bundleID), "environment": .string(place.environment.rawValue), "dryRun": .bool(isDry),
    ]
    if let report {
      let sent = ReconciliationReport.sum(report.notifications)
      object["since"] = .integer(report.since.sinceEpoch)
      for (name, count) in [
        ("sent", sent.expected), ("arrived", sent.arrived), ("takenIn", report.takenIn),
        ("setAside", report.setAside), ("lookedUp", report.lookedUp), ("unknownToApple", report.unknownToApple),
        ("pending", report.pending), ("failed", report.failed), ("postponed", report.postponed), ("left", report.left),
      ] { object[name] = .integer(Int64(count)) }
    }
    if !failures.isEmpty {
      let reasons = report?.unfinished.map(\.description) ?? failures.map { "\($0)" }
      object["error"] = .string(reasons.joined(separator: "; "))
    }
    return report?.isStopped ?? false ? object.notingStop : object
  }
}

extension Error {
  /// Whether a later retry will pass Apple's limit or the local budget.
  var saysLater: Bool { (self as? APIError)?.saysLater ?? false }
}

extension APIError {
  /// Whether a later retry will pass Apple's limit or the local budget.
  var saysLater: Bool {
    switch code {
    case .rateLimited, .serverFailed, .overBudget: true
    case .invalidCall, .noToken, .unauthorized, .refused, .unreachable, .untrusted, .interrupted, .malformedAnswer,
      .tooLarge, .endlessPaging, .cancelled:
      false
    }
  }
}
