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
    guard let services else { return .null }
    return .object([
      "following": .integer(Int64(services.following)), "behind": .integer(Int64(services.behind)),
      "milliseconds": .integer(services.waited.milliseconds),
    ])
  }
}

extension FollowingServices {
  /// Returns a sentence for the operator, such as `2 services follow the current stages`.
  fileprivate func line(otherwise consequence: String) -> String {
    guard count > 0 else { return Self.noService }
    guard behind > 0 else {
      let (seconds, tenths) = (waited.milliseconds / 1_000, waited.milliseconds % 1_000 / 100)
      let follow = count == 1 ? "follows" : "follow"
      return "\(count.counted("service")) \(follow) the current stages, after \(seconds).\(tenths) s."
    }
    return """
      \(behind) of \(count.counted("service")) \(behind == 1 ? "has" : "have") not followed within \
      \(Self.limit.milliseconds / 1_000) seconds. \(consequence): runbooks/rollback.md.
      """
  }

  /// `2 services are running.`, for a command that changes nothing.
  var status: String {
    guard count > 0 else { return Self.noService }
    let running = "\(count.counted("service")) \(count == 1 ? "is" : "are") running"
    guard behind > 0 else { return "\(running)." }
    return "\(running); \(behind) of them \(behind == 1 ? "has" : "have") not learned the current stages yet."
  }

  private static var noService: String {
    """
    No service has reported within the last \(silence.milliseconds / 1_000) seconds: either none is running, or none can \
    reach the database.
    """
  }
}
