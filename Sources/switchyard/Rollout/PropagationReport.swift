import Database
import JSON
import Ledger
import Operations
import Runtime
import Time

/// The report after a stage change on whether the running services use it.
///
/// The change is committed, so no error here makes the command fail.
struct PropagationReport {
  private let line: String
  /// Null if unknown.
  let json: JSONValue

  /// Waits at most five seconds until every running service follows.
  ///
  /// - Parameter consequence: the effect on callers of a service that does not follow.
  static func awaited(on connection: Connection, otherwise consequence: String) async -> PropagationReport {
    do {
      let services = try await StagePropagation.awaited(on: connection)
      return PropagationReport(line: services.line(otherwise: consequence), json: .object(services.json))
    } catch {
      return PropagationReport(
        line: "The change is made, but it is not known whether the running services follow: \(error).", json: .null)
    }
  }

  func note(_ terminal: Terminal) { terminal.note(line) }
}

extension StagePropagation {
  var json: JSONObject {
    func names(_ notes: [ProcessTable.Status]) -> JSONValue { .array(notes.map { JSONValue($0.service.name) }) }
    return [
      "following": .integer(Int64(following.count)), "behind": .integer(Int64(behind.count)),
      "silent": .integer(Int64(silent.count)), "milliseconds": .integer(waited.milliseconds),
      "behindNames": names(behind), "silentNames": names(silent),
    ]
  }

  fileprivate func line(otherwise consequence: String) -> String {
    guard count > 0 else { return status }
    let (seconds, tenths) = (waited.milliseconds / 1_000, waited.milliseconds % 1_000 / 100)
    let share = "\(following.count) of \(count.counted("service"))"
    let first = "\(share) follow the current stages, after \(seconds).\(tenths) s."
    guard !behind.isEmpty else { return first + silentOnes }
    return "\(first) Not yet: \(Self.list(behind)). \(consequence): runbooks/rollback.md." + silentOnes
  }

  /// `2 services are running.`, for a command without a change.
  var status: String {
    guard count > 0 else {
      return """
        No service has reported within the last \(Self.silence.milliseconds / 1_000) seconds: either none is running, or none can \
        reach the database.
        """ + silentOnes
    }
    let running = "\(count.counted("service")) \(count == 1 ? "is" : "are") running."
    let late = behind.isEmpty ? "" : " These have not learned the current stages yet: \(Self.list(behind))."
    return running + late + silentOnes
  }

  /// A sentence about services without a heartbeat, or an empty text.
  private var silentOnes: String {
    guard let last = silent.first else { return "" }
    return """
       \(silent.count.counted("service")) last reported \(last.age.milliseconds / 1_000) s or longer ago (\(Self.list(silent))): killed, \
      frozen, or cut off from the database. See runbooks/rollback.md, *If not*.
      """
  }

  private static func list(_ notes: [ProcessTable.Status]) -> String {
    notes.prefix(5).map { $0.service.name ?? "unnamed" }.joined(separator: ", ")
      + (notes.count > 5 ? ", and \(notes.count - 5) more" : "")
  }
}
