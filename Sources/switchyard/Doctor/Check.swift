import JSON
import Runtime

struct Check: Sendable {
  enum Level: String, Sendable, CaseIterable { case ok, warn, fail }

  let name: String
  let level: Level
  let detail: String
  let remedy: String?

  static func ok(_ name: String, _ detail: String) -> Self {
    Self(name: name, level: .ok, detail: detail, remedy: nil)
  }

  static func warn(_ name: String, _ detail: String, _ remedy: String) -> Self {
    Self(name: name, level: .warn, detail: detail, remedy: remedy)
  }

  static func fail(_ name: String, _ detail: String, _ remedy: String) -> Self {
    Self(name: name, level: .fail, detail: detail, remedy: remedy)
  }

  var line: String {
    let remedy = remedy.map { "; \($0)" } ?? ""
    return "\(level.rawValue.padding(to: 4))  \(name.padding(to: 14))  \(detail)\(remedy)"
  }

  var json: JSONObject {
    [
      "name": .string(name), "level": .string(level.rawValue), "detail": .string(detail), "do": JSONValue(remedy),
    ]
  }
}

extension String {
  fileprivate func padding(to width: Int) -> String {
    self + String(repeating: " ", count: Swift.max(0, width - utf8.count))
  }
}
