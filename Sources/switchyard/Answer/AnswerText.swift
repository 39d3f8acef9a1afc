import JSON
import LegacyAnswers
import Mappings
import Runtime

/// A response for people: each field with its value, mapping row and source.
struct AnswerText {
  private let answer: JSONObject
  private let fields: [ExplainedField]

  init(_ explained: ResponseComposer.Explained) throws {
    var limits = JSONLimits.standard
    limits.bytes = explained.bytes.count
    answer = try JSONReader.read(explained.bytes, limits: limits).object ?? [:]
    fields = explained.fields
  }

  func text(for terminal: Terminal) -> String {
    var table = TextTable([.init("path"), .init("value"), .init("rule"), .init("origin")])
    for field in fields { table.add([field.path.plain, cell(field.path), field.rule, String(field.origin.rawValue)]) }
    return table.render(for: terminal)
  }

  /// Shortens long values: a receipt has thousands of characters.
  private func cell(_ path: String) -> String {
    guard let value = value(at: path) else { return "-" }
    let text = (value.string ?? String(decoding: value.encoded(), as: UTF8.self)).plain
    return text.count > 60 ? "\(text.prefix(57))…" : text
  }

  private func value(at path: String) -> JSONValue? {
    var value = JSONValue.object(answer)
    for part in path.split(separator: ".") {
      let pieces = part.split(whereSeparator: { $0 == "[" || $0 == "]" })
      guard let name = pieces.first, let member = value.object?[String(name)] else { return nil }
      value = member
      if pieces.count > 1, let place = Int(pieces[1]) {
        guard let elements = value.array, elements.indices.contains(place) else { return nil }
        value = elements[place]
      }
    }
    return value
  }
}
