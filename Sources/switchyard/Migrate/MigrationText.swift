import BulkMigration
import Ledger
import Operations
import Runtime

enum MigrationText {
  static func status(_ record: MigrationRecord, for terminal: Terminal) -> String {
    let (job, accounts) = (record.job, record.accounts)
    var text = "migration \(job.id) is \(job.state.name)"
    if let trouble = job.trouble { text += ": \(trouble)" }
    text += "\n\(rows(accounts))\n\(ids(accounts))\n"
    for (reason, count) in accounts.rejected.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
      text += "  \(count) \(reason)\n"
    }
    let open = record.parts.filter { !$0.isDone }
    if !open.isEmpty { text += "\(open.count) of \(record.parts.count) parts are not read to their end\n" }
    for part in open.filter({ $0.trouble != nil }).prefix(5) { text += "  \(part.trouble ?? "")\n" }
    if record.places.count > 1 {
      var table = TextTable([
        .init("APP"), .init("ENVIRONMENT"), .init("USABLE", .right), .init("IDS", .right), .init("SETTLED", .right),
        .init("UNKNOWN", .right), .init("FAILED", .right), .init("OPEN", .right),
      ])
      for place in record.places where place.accounts.usable + place.accounts.ids > 0 {
        let accounts = place.accounts
        table.add(
          [known(place.app), known(place.environment)]
            + [
              accounts.usable, accounts.ids, accounts.settled, accounts.unknown, accounts.failed, accounts.open,
            ].map { "\($0)" })
      }
      text += table.render(for: terminal)
    }
    return text
  }

  /// Returns advice for a job without a working process; `nil` if one works or the job is paused.
  static func unattended(_ record: MigrationRecord, _ holdUp: MigrationBlocker?) -> String? {
    guard record.isUnattended, holdUp == nil else { return nil }
    return """
      no process works on it: start `switchyard serve` on this database, or run `switchyard migrate resume \(record.job.id) \
      --here`
      """
  }

  /// `limits of 20 customers a second, the hours 22-6 UTC`, or `no limits`.
  static func limits(_ settings: MigrationSettings) -> String {
    let limits = [
      settings.callsPerSecond.map { "\($0.counted("customer")) a second" },
      settings.rowsPerSecond.map { "\($0.counted("row")) a second" },
      settings.hours.map { "the hours \($0.text) UTC" },
    ].compactMap(\.self)
    return limits.isEmpty ? "no limits" : "limits of \(limits.joined(separator: ", "))"
  }

  static func known(_ name: String) -> String { name.isEmpty ? "not known" : name }

  /// `6 in = 4 usable + 1 duplicates + 0 without purchases + 1 rejected`.
  static func rows(_ accounts: MigrationCounts) -> String {
    var text = "\(accounts.rows) in = \(accounts.usable) usable + \(accounts.duplicates) duplicates"
    text += " + \(accounts.withoutPurchases) without purchases + \(accounts.allRejected) rejected"
    if accounts.links > 0 { text += "; \(accounts.links) of the duplicates brought another user" }
    return text
  }

  /// `9 ids = 5 settled + 1 unknown to Apple + 0 failed + 3 open`.
  static func ids(_ accounts: MigrationCounts) -> String {
    "\(accounts.ids) ids = \(accounts.settled) settled + \(accounts.unknown) unknown to Apple"
      + " + \(accounts.failed) failed + \(accounts.open) open"
  }
}
