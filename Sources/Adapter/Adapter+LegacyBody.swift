package import JSON

extension Adapter {
  /// The body of a V1 notification, for whoever has to find out who sent it; nil for anything else.
  package static func legacyBody(_ body: [UInt8]) -> JSONObject? {
    guard case .notificationV1(let object)? = try? Detection(body) else { return nil }
    return object
  }
}
