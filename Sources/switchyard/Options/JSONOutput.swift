import JSON
import Runtime

enum JSONOutput {
  static let option = Option.flag("json", "Print JSON, one object a line, instead of text.")
}

extension ParsedArguments {
  var wantsJSON: Bool { flag(JSONOutput.option.name) }
}

extension Terminal {
  /// Writes the object on its own line, with terminal control characters in JSON escapes.
  func write(_ object: JSONObject) throws(OutputError) {
    try write(SafeText.escaped(lines: object.encoded()) + [UInt8(ascii: "\n")])
  }
}

extension JSONObject {
  /// The object with the signal that stopped the command, if any: `"stoppedBy": "SIGINT"`.
  var notingStop: JSONObject { notingStop(of: CommandShutdown.current) }

  func notingStop(of stop: CommandShutdown?) -> JSONObject {
    var object = self
    object["stoppedBy"] = stop?.signal.map { .string($0.name) }
    return object
  }
}

extension JSONValue {
  init(_ text: String?) { self = text.map(JSONValue.string) ?? .null }

  init(_ number: Int64?) { self = number.map(JSONValue.integer) ?? .null }
}
