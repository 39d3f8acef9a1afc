import JSON
import Ledger
import Operations
import Time

/// What is told of the running services: to people in sentences, to programs in numbers and names.
extension FollowingServices {
  var json: JSONObject {
    [
      "following": .integer(Int64(following.count)), "behind": .integer(Int64(behind.count)),
      "silent": .integer(Int64(silent.count)), "milliseconds": .integer(waited.milliseconds),
      "behindNames": Self.names(behind), "silentNames": Self.names(silent),
      "otherVersions": Self.names(others(than: SwitchyardCommand.version)),
    ]
  }

  private static func names(_ notes: [ProcessTable.Note]) -> JSONValue {
    .array(notes.map { JSONValue($0.service.name) })
  }

  /// Returns a sentence such as `2 services follow the current stages`, with how long it took.
  func line(otherwise consequence: String) -> String {
    let first: String
    if count == 0 {
      first = Self.noService
    } else if behind.isEmpty {
      let (seconds, tenths) = (waited.milliseconds / 1_000, waited.milliseconds % 1_000 / 100)
      let follow = count == 1 ? "follows" : "follow"
      first = "\(count.counted("service")) \(follow) the current stages, after \(seconds).\(tenths) s."
    } else {
      first = """
        \(behind.count) of \(count.counted("service")) \(behind.count == 1 ? "has" : "have") not followed within \
        \(Self.limit.milliseconds / 1_000) seconds\(Self.list(behind)). \(consequence): runbooks/rollback.md.
        """
    }
    return first + silentOnes + otherBuilds
  }

  /// `2 services are running.`, for a command that changes nothing.
  var status: String {
    guard count > 0 else { return Self.noService + silentOnes }
    let running = "\(count.counted("service")) \(count == 1 ? "is" : "are") running"
    let have = behind.count == 1 ? "has" : "have"
    let learned = "\(behind.count) of them \(have) not learned the current stages yet\(Self.list(behind))"
    return (behind.isEmpty ? "\(running)." : "\(running); \(learned).") + silentOnes + otherBuilds
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
       \(services) last reported \(last.age.milliseconds / 1_000) s\(silent.count > 1 ? " or longer" : "") ago\
      \(Self.list(silent)): killed, frozen, or cut off from the database. What that means: runbooks/rollback.md, *If not*.
      """
  }

  /// A sentence about services of other versions; empty if there are none.
  private var otherBuilds: String {
    let others = others(than: SwitchyardCommand.version)
    guard !others.isEmpty else { return "" }
    let run = others.count == 1 ? "runs" : "run"
    let named = Self.list(others) { "\($0.name ?? "unnamed"): \($0.version ?? "an earlier version")" }
    let treat = others.count == 1 ? "It treats stages that it does not know" : "They treat stages that they do not know"
    return """
       \(others.count.counted("service")) \(run) another version than \(SwitchyardCommand.version)\(named). \(treat) as `record`.
      """
  }

  private static let mostNames = 5

  /// Names in parentheses, with a space before; empty if no service says its name.
  private static func list(
    _ notes: [ProcessTable.Note], _ text: (ProcessTable.Service) -> String? = { $0.name }
  ) -> String {
    let names = notes.compactMap { text($0.service) }
    guard !names.isEmpty else { return "" }
    let left = names.count > mostNames ? ", and \(names.count - mostNames) more" : ""
    return " (\(names.prefix(mostNames).joined(separator: ", "))\(left))"
  }
}
