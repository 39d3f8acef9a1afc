import JSON
import Time

/// Claims by their types: `nil` when absent or null, an error for another type.
extension JSONObject {
  func claim(string key: String) throws(VerificationError) -> String? {
    try claim(key, "a string") { $0.string }
  }

  func claim(integer key: String) throws(VerificationError) -> Int64? {
    try claim(key, "a whole number") { $0.integer }
  }

  /// Returns a date.
  ///
  /// Fractions of milliseconds, which Xcode writes, are rounded; values outside of 10,000 years around 1970 are not
  /// dates.
  func claim(date key: String) throws(VerificationError) -> Timestamp? {
    try claim(key, "a date in milliseconds") { value in
      value.milliseconds.flatMap { $0.sinceEpoch.magnitude < 315_360_000_000_000 ? $0 : nil }
    }
  }

  func claim(object key: String) throws(VerificationError) -> JSONObject? {
    try claim(key, "an object") { $0.object }
  }

  /// Throws for an environment that Apple does not document.
  func claim(environment key: String) throws(VerificationError) -> AppStoreEnvironment? {
    guard let name = try claim(string: key) else { return nil }
    guard let environment = AppStoreEnvironment(rawValue: name) else {
      throw VerificationError(.wrongEnvironment, "\(key) is \(quoted(name)), which is not a known environment")
    }
    return environment
  }

  private func claim<Value>(
    _ key: String, _ type: String, _ read: (JSONValue) -> Value?
  ) throws(VerificationError) -> Value? {
    guard let value = self[key], value != .null else { return nil }
    guard let value = read(value) else { throw VerificationError(.malformedClaim, "\(key) is not \(type)") }
    return value
  }
}
