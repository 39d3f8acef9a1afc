import AppStore
import BulkMigration
import Database
import JSON
import Ledger
import Operations
import Purchases
import Runtime
import Seeding
import Time

/// A dry run as a file: what was found, and all that `migrate apply` needs to begin.
struct MigrationPlan {
  /// What one app in one environment would take.
  struct Place {
    let app: String
    let environment: String
    let figures: MigrationEstimate.Figures
    let seconds: Int64
    let perSecond: Double
    let cause: String
  }

  let parts: [MigrationJobTable.NewPart]
  let bundleID: String?
  let environment: Environment?
  let settings: MigrationSettings
  let estimate: MigrationEstimate
  let places: [Place]
  let warnings: [MigrationWarning]

  private static let member = "switchyardMigrationPlan"
  /// A customer costs a call for the history, and one for the statuses.
  static let callsPerLookUp = 2

  var json: JSONObject {
    let sources = parts.map { part -> JSONValue in
      var object: JSONObject = ["source": .string(part.source)]
      object["size"] = part.size.map(JSONValue.integer)
      return .object(object)
    }
    return [
      Self.member: 1, "sources": .array(sources), "app": JSONValue(bundleID),
      "environment": JSONValue(environment?.rawValue), "settings": .object(settings.json),
      "isWhole": .bool(estimate.isWhole), "accounts": .object(MigrationJSON.accounts(estimate.accounts)),
      "places": .array(places.map { .object($0.json) }),
      "warnings": .array(warnings.map { ["code": .string($0.code), "text": .string($0.text)] }),
      "rejects": .array(
        estimate.samples.map { sample in
          ["reason": .string(sample.reason), "file": JSONValue(sample.file), "line": .integer(Int64(sample.line))]
        }),
    ]
  }

  /// What a plan file says to begin with.
  struct Begin {
    let parts: [MigrationJobTable.NewPart]
    let bundleID: String?
    let environment: Environment?
    let settings: MigrationSettings

    /// Nil for a file that is no plan.
    init?(_ bytes: [UInt8]) {
      guard let json = (try? JSONReader.read(bytes, limits: JSONLimits(bytes: bytes.count, depth: 16)))?.object,
        json[MigrationPlan.member] == 1
      else { return nil }
      parts = (json["sources"]?.array ?? []).compactMap { source in
        (source.object?["source"]?.string).map {
          MigrationJobTable.NewPart(source: $0, size: source.object?["size"]?.integer)
        }
      }
      bundleID = json["app"]?.string
      environment = (json["environment"]?.string).flatMap(Environment.init(rawValue:))
      settings = MigrationSettings(json["settings"]?.object ?? [:])
    }
  }

  func text(for terminal: Terminal) -> String {
    let accounts = estimate.accounts
    var text = MigrationText.rows(accounts) + (estimate.isWhole ? "\n" : " (of the first rows alone)\n")
    for part in parts.prefix(20) {
      text += "reads \((try? MigrationSource(stored: part.source))?.details ?? part.source)\n"
    }
    if !places.isEmpty {
      var table = TextTable([
        .init("APP"), .init("ENVIRONMENT"), .init("USABLE", .right), .init("IDS", .right), .init("CALLS", .right),
        .init("ACTIVE", .right), .init("SECONDS", .right), .init("BECAUSE"),
      ])
      for place in places {
        let figures = place.figures
        table.add([
          place.app, place.environment, "\(figures.usable)", "\(figures.ids)",
          "~\(figures.lookUps * Self.callsPerLookUp)", "\(figures.active)", "~\(place.seconds)", place.cause,
        ])
      }
      text += table.render(for: terminal)
    }
    let dead = places.reduce(0) { $0 + $1.figures.lookUps - $1.figures.active }
    if dead > 0 {
      text += "\(dead) of the customers are probably not active any more: they are asked about last\n"
    }
    for (reason, count) in accounts.rejected.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
      let example = estimate.samples.first { $0.reason == reason }
      text += "\(count) rejected: \(reason)"
      text += example.map { ", as line \($0.line)\($0.file.map { " of \($0)" } ?? "")\n" } ?? "\n"
    }
    return text + warnings.map { "warning: \($0.text)\n" }.joined()
  }
}

extension MigrationPlan.Place {
  fileprivate var json: JSONObject {
    [
      "app": .string(app), "environment": .string(environment), "usable": .integer(Int64(figures.usable)),
      "ids": .integer(Int64(figures.ids)), "customers": .integer(Int64(figures.lookUps)),
      "active": .integer(Int64(figures.active)),
      "calls": .integer(Int64(figures.lookUps * MigrationPlan.callsPerLookUp)), "seconds": .integer(seconds),
      "callsPerSecond": .string("\(perSecond)"), "because": .string(cause),
    ]
  }
}

extension MigrationSource {
  /// For people: where it is, and which columns of a table are read.
  fileprivate var details: String {
    switch self {
    case .files: name
    case .table(let table):
      "\(name): key \(table.columns.key), receipts in \(table.columns.content)"
        + (table.columns.userID.map { ", users in \($0)" } ?? "") + (table.columns.app.map { ", apps in \($0)" } ?? "")
    }
  }
}
