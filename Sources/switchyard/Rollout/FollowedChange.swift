import Database
import JSON
import Operations
import Runtime
import Time

/// What a command that has changed a stage tells of the running services: whether they have learned it.
///
/// The change is committed by then: nothing that goes wrong here makes the command fail.
struct FollowedChange {
  /// Nil where it could not be found out.
  let services: FollowingServices?
  private let line: String

  /// Waits until every running service follows, for five seconds at most.
  ///
  /// - Parameter consequence: what a service that has not followed means for its callers.
  static func awaited(on connection: Connection, otherwise consequence: String) async -> FollowedChange {
    do {
      let services = try await FollowingServices.awaited(on: connection)
      return FollowedChange(services: services, line: services.line(otherwise: consequence))
    } catch {
      return FollowedChange(
        services: nil,
        line: "The change is made, but it is not known whether the running services follow: \(error).")
    }
  }

  func note(_ terminal: Terminal) { terminal.note(line) }

  /// Null where it could not be found out.
  var json: JSONValue {
    services.map { .object($0.json) } ?? .null
  }
}

extension FollowingServices {
  var json: JSONObject {
    [
      "following": .integer(Int64(following)), "behind": .integer(Int64(behind)),
      "silent": .integer(Int64(silent.count)), "milliseconds": .integer(waited.milliseconds),
    ]
  }

  /// Returns a sentence such as `2 services follow the current stages`, with how long it took.
  fileprivate func line(otherwise consequence: String) -> String {
    let first: String
    if count == 0 {
      first = Self.noService
    } else if behind == 0 {
      let (seconds, tenths) = (waited.milliseconds / 1_000, waited.milliseconds % 1_000 / 100)
      let follow = count == 1 ? "follows" : "follow"
      first = "\(count.counted("service")) \(follow) the current stages, after \(seconds).\(tenths) s."
    } else {
      first = """
        \(behind) of \(count.counted("service")) \(behind == 1 ? "has" : "have") not followed within \
        \(Self.limit.milliseconds / 1_000) seconds. \(consequence): runbooks/rollback.md.
        """
    }
    return first + silentOnes
  }

  /// `2 services are running.`, for a command that changes nothing.
  var status: String {
    guard count > 0 else { return Self.noService + silentOnes }
    let running = "\(count.counted("service")) \(count == 1 ? "is" : "are") running"
    let learned = "\(behind) of them \(behind == 1 ? "has" : "have") not learned the current stages yet"
    return (behind > 0 ? "\(running); \(learned)." : "\(running).") + silentOnes
  }

  private static var noService: String {
    """
    No service has reported within the last \(silence.milliseconds / 1_000) seconds: either none is running, or none can \
    reach the database.
    """
  }

  /// A sentence about services that ended without a word, or may still run; empty if there are none.
  private var silentOnes: String {
    guard let last = silent.first else { return "" }
    let services = silent.count.counted(count > 0 ? "more service" : "service")
    return """
       \(services) last reported \(last.milliseconds / 1_000) s\(silent.count > 1 ? " or longer" : "") ago: killed, frozen, \
      or cut off from the database. What that means: runbooks/rollback.md, *If not*.
      """
  }
}
