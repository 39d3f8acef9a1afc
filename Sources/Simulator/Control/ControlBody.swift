import JSON
import Signing
import Time

struct ControlBody: Sendable {
  private let object: JSONObject

  init(_ object: JSONObject) { self.object = object }

  /// Parses the body; an empty body is an order without values.
  init(_ bytes: [UInt8]) throws(ControlError) {
    guard !bytes.isEmpty else {
      object = JSONObject()
      return
    }
    guard let object = (try? JSONReader.read(bytes))?.object else {
      throw ControlError(.notJSON, "the body is a JSON object")
    }
    self.object = object
  }

  var json: JSONObject { object }

  func has(_ key: String) -> Bool { object[key].map { !$0.isNull } ?? false }

  func text(_ key: String) throws(ControlError) -> String {
    guard let value = try optionalText(key) else { throw ControlError(.missingValue, "\(key) is missing") }
    return value
  }

  func optionalText(_ key: String) throws(ControlError) -> String? {
    guard has(key), let value = object[key] else { return nil }
    guard let text = value.string, (1...2_048).contains(text.utf8.count) else {
      throw ControlError(.invalidValue, "\(key) is a text")
    }
    return text
  }

  func flag(_ key: String) throws(ControlError) -> Bool? {
    guard has(key), let value = object[key] else { return nil }
    guard let flag = value.bool else { throw ControlError(.invalidValue, "\(key) is true or false") }
    return flag
  }

  func number(_ key: String, in range: ClosedRange<Int64>) throws(ControlError) -> Int64? {
    guard has(key), let value = object[key] else { return nil }
    guard let number = value.integer, range.contains(number) else {
      throw ControlError(.invalidValue, "\(key) is a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  func environment() throws(ControlError) -> AppStoreEnvironment {
    switch try optionalText("environment") {
    case "Production"?: .production
    case "Sandbox"?: .sandbox
    default: throw ControlError(.invalidValue, "environment is Production or Sandbox")
    }
  }
}
