import Database
import JSON
import Operations
import Runtime

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
  var json: JSONValue { services.map { .object($0.json) } ?? .null }
}
