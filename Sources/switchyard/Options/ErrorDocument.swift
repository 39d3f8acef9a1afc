import JSON
import Runtime

/// An error for programs: a code, a text, and the commands that help.
struct ErrorDocument {
  private let error: any Error

  init(_ error: any Error) { self.error = error }

  var json: JSONObject {
    [
      "error": [
        "code": .string(code), "detail": .string((error as? UsageError)?.detail ?? "\(error)"),
        "next_steps": .array(nextSteps.map(JSONValue.string)),
      ]
    ]
  }

  private var code: String {
    if let error = error as? UsageError { return error.code.rawValue }
    let name = String(describing: type(of: error))
    return name.prefix(1).lowercased() + name.dropFirst()
  }

  private var nextSteps: [String] {
    if let error = error as? UsageError { return [error.path.joined(separator: " ") + " --help"] }
    return "\(error)".split(separator: "`", omittingEmptySubsequences: false).enumerated()
      .filter { $0.offset % 2 == 1 && $0.element.hasPrefix("switchyard ") }.map { String($0.element) }
  }
}
