import AppStore
import Backfill
import BulkMigration
import Database
import JSON
import Ledger
import Operations
import Purchases
import Runtime
import Seeding
import Time

/// A dry run as a file: its findings, and all that `migrate apply` needs.
struct MigrationPlan {
  /// The work for one app in one environment.
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
  /// The columns of the files, by the sources of their parts.
  let columns: [String: InputColumns]
  let estimate: MigrationEstimate
  let places: [Place]
  let warnings: [MigrationWarning]

  private static let member = "switchyardMigrationPlan"
  /// A customer costs a call for the history, and one for the statuses.
  static let callsPerLookUp = 2

  var rejectsAll: Bool { estimate.accounts.rows > 0 && estimate.accounts.allRejected == estimate.accounts.rows }
  /// Whether a job is pointless: every row was read, and rejected.
  var isUseless: Bool { rejectsAll && estimate.isWhole }

  var json: JSONObject {
    let sources = parts.map { part -> JSONValue in
      var object: JSONObject = ["source": .string(part.source)]
      object["size"] = part.size.map(JSONValue.integer)
      let source = try? MigrationSource(stored: part.source)
      object["columns"] = source.flatMap { PlannedColumns.json(of: $0, columns[part.source]) }.map(JSONValue.object)
      return .object(object)
    }
    return [
      Self.member: 1, "sources": .array(sources), "app": JSONValue(bundleID),
      "environment": JSONValue(environment?.rawValue), "settings": .object(settings.json),
      "isWhole": .bool(estimate.isWhole), "accounts": .object(MigrationJSON.accounts(estimate.accounts)),
      "places": .array(places.map { .object($0.json) }),
      "warnings": MigrationJSON.warnings(warnings),
      "rejects": .array(
        estimate.samples.map { sample in
          [
            "reason": .string(sample.reason), "file": JSONValue(sample.file),
            "line": .integer(Int64(sample.line)), "key": JSONValue(sample.key),
          ]
        }),
    ]
  }

  struct Begin {
    let parts: [MigrationJobTable.NewPart]
    let bundleID: String?
    let environment: Environment?
    let settings: MigrationSettings

    /// Returns `nil` if the file is not a plan.
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
    var text = MigrationText.rows(accounts) + (estimate.isWhole ? "\n" : " (of the first rows only)\n")
    for part in parts.prefix(20) {
      text += "reads \((try? MigrationSource(stored: part.source))?.details ?? part.source)"
      text += columns[part.source].map { "\($0.details)\n" } ?? "\n"
    }
    if !places.isEmpty {
      var table = TextTable([
        .init("APP"), .init("ENVIRONMENT"), .init("USABLE", .right), .init("IDS", .right), .init("CALLS", .right),
        .init("ACTIVE", .right), .init("SECONDS", .right), .init("BECAUSE"),
      ])
      for place in places {
        let figures = place.figures
        table.add([
          MigrationText.known(place.app), MigrationText.known(place.environment), "\(figures.usable)", "\(figures.ids)",
          "~\(figures.lookUps * Self.callsPerLookUp)", "\(figures.active)", "~\(place.seconds)", place.cause,
        ])
      }
      text += table.render(for: terminal)
    }
    let dead = places.reduce(0) { $0 + $1.figures.lookUps - $1.figures.active }
    if dead > 0 {
      text += "\(dead) of the customers are probably no longer active: they are asked about last\n"
    }
    for (reason, count) in accounts.rejected.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
      let example = estimate.samples.first { $0.reason == reason }
      text += "\(count) rejected: \(reason)"
      text += (example?.location.map { ", as \($0)" } ?? "") + "\n"
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
  fileprivate var details: String {
    switch self {
    case .files: name
    case .table(let table):
      "\(name): key \(table.columns.key), receipts in \(table.columns.content)"
        + (table.columns.userID.map { ", users in \($0)" } ?? ", \(InputColumns.noUser)")
        + (table.columns.app.map { ", apps in \($0)" } ?? "")
        + (table.columns.id.map { ", \(InputColumns.ids) \($0)" } ?? "")
    }
  }
}

extension InputColumns {
  fileprivate static let noUser = "no column of users (--column user=NAME says which)"
  fileprivate static let ids = "where a receipt is unusable the id in"
  private static let shown = 20

  fileprivate var details: String {
    guard let receipt else {
      return ": \(format.name)" + (names.isEmpty ? "" : ", each row recognized by its content, members \(list(names))")
    }
    var text = ": \(format.name), \(isGuessed ? "no header, guessed " : "")receipt=\(list([receipt]))"
    text += userID.map { ", user=\(list([$0]))" } ?? ", \(Self.noUser)"
    text += app.map { ", app=\(list([$0]))" } ?? ""
    text += id.map { ", \(Self.ids) \(list([$0]))" } ?? ""
    return text + (unread.isEmpty ? "" : "; not read: \(list(unread))")
  }

  private func list(_ names: [String]) -> String {
    let more = names.count > Self.shown ? " and \(names.count - Self.shown) more" : ""
    return SafeText.escaped(names.prefix(Self.shown).joined(separator: ", "), limit: 1_000) + more
  }
}

extension MigrationEstimate.Sample {
  /// The location of the row, for people; `nil` if it means the only file as a whole.
  fileprivate var location: String? {
    if let key { return "the row with the key \(SafeText.escaped(key, limit: 256))" }
    guard line > 0 else { return file }
    return "line \(line)" + (file.map { " of \($0)" } ?? "")
  }
}
