import BulkMigration
import JSON
import Ledger
import Operations
import Purchases
import Time

/// The JSON of a bulk migration for programs; its keys are stable.
enum MigrationJSON {
  static func job(_ job: MigrationJob) -> JSONObject {
    [
      "job": .integer(Int64(job.id)), "state": .string(job.state.name),
      "createdAt": .integer(job.createdAt.sinceEpoch), "createdBy": .string(job.createdBy),
      "finishedAt": JSONValue(job.finishedAt?.sinceEpoch), "environment": JSONValue(job.environment?.rawValue),
      "settings": .object(job.settings.json), "trouble": JSONValue(job.failure),
      "pauseReason": JSONValue(job.pauseReason),
    ]
  }

  static func record(_ record: MigrationRecord) -> JSONObject {
    var object = job(record.job)
    object["app"] = JSONValue(record.bundleID)
    object["accounts"] = .object(accounts(record.accounts))
    if record.job.state == .cancelled { object["notLookedUp"] = .integer(Int64(record.unasked)) }
    object["isUnattended"] = .bool(record.isUnattended)
    object["rest"] = record.rest.map(JSONValue.string)
    object["places"] = .array(
      record.places.map { place in
        var object: JSONObject = ["app": .string(place.app), "environment": .string(place.environment)]
        for member in accounts(place.accounts).members where member.key != "in" { object[member.key] = member.value }
        return .object(object)
      })
    object["parts"] = .array(record.parts.map { .object(part($0)) })
    return object
  }

  /// Returns null unless the job is paused by a blocker.
  static func heldUp(_ holdUp: MigrationBlocker?) -> JSONValue { holdUp.map { JSONValue.object($0.json) } ?? .null }

  static func warnings(_ warnings: [MigrationWarning]) -> JSONValue {
    .array(warnings.map { ["code": .string($0.code), "text": .string($0.text)] })
  }

  static func accounts(_ accounts: MigrationCounts) -> JSONObject {
    [
      "in": .integer(Int64(accounts.rows)), "usable": .integer(Int64(accounts.usable)),
      "duplicates": .integer(Int64(accounts.duplicates)), "links": .integer(Int64(accounts.links)),
      "withoutPurchases": .integer(Int64(accounts.withoutPurchases)),
      "rejected": .object(
        JSONObject(accounts.rejected.sorted { $0.key < $1.key }.map { ($0.key, .integer(Int64($0.value))) })),
      "ids": .integer(Int64(accounts.ids)), "settled": .integer(Int64(accounts.settled)),
      "unknown": .integer(Int64(accounts.unknown)), "failed": .integer(Int64(accounts.failed)),
      "open": .integer(Int64(accounts.open)),
    ]
  }

  private static func part(_ part: MigrationPartReport) -> JSONObject {
    [
      "number": .integer(Int64(part.number)),
      "source": JSONValue((try? MigrationSource(stored: part.source))?.name), "size": JSONValue(part.size),
      "isDone": .bool(part.isDone), "isRead": .bool(part.isLeased), "rows": .integer(Int64(part.rows)),
      "bytesRead": .integer(part.bytesRead), "trouble": JSONValue(part.trouble),
    ]
  }
}
