import JSON
import Runtime

/// `--json`: one object a line, for programs.
enum JSONOutput {
  static let option = Option.flag("json", "Print JSON, one object a line, instead of text.")
}

extension ParsedArguments {
  var wantsJSON: Bool { flag(JSONOutput.option.name) }
}

extension Terminal {
  /// Writes the object on a line of its own; what a terminal would obey is escaped, which is the same JSON.
  func write(_ object: JSONObject) throws(OutputError) {
    try write(SafeText.escaped(lines: object.encoded()) + [UInt8(ascii: "\n")])
  }
}

extension JSONObject {
  /// The same, with the signal that stopped the command, if one did: `"stoppedBy": "SIGINT"`.
  var notingStop: JSONObject { notingStop(of: CommandShutdown.current) }

  /// The same where no task says which command runs.
  func notingStop(of stop: CommandShutdown?) -> JSONObject {
    var object = self
    object["stoppedBy"] = stop?.signal.map { .string($0.name) }
    return object
  }
}

extension JSONValue {
  /// The string, or null.
  init(_ text: String?) { self = text.map(JSONValue.string) ?? .null }

  /// The number, or null.
  init(_ number: Int64?) { self = number.map(JSONValue.integer) ?? .null }
}
