import JSON
package import Purchases
import Signing

/// The app and environment that a notification names, without verification.
///
/// A stranger's claim: sufficient only to pass the body to that app's own back end, which accepts such bodies from
/// every sender that knows its URL.
package struct UnverifiedSender: Hashable, Sendable {
  package enum Generation: String, Hashable, Sendable {
    case v1, v2
    /// Neither a signed payload nor a V1 body.
    case other
  }

  package var app: String?
  package var environment: Environment?
  package var generation: Generation

  package init(app: String?, environment: Environment?, generation: Generation) {
    self.app = app
    self.environment = environment
    self.generation = generation
  }

  /// Reads the signed payload of a V2 notification; `nil` if it is unreadable.
  init?(ofSignedPayload jws: [UInt8]) {
    let parts = jws.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3, let payload = Base64.url.decode(Array(parts[1])),
      let object = try? JSONReader.read(payload).object
    else { return nil }
    let named = ["data", "summary", "externalPurchaseToken", "appData"].lazy.compactMap { object[$0]?.object }.first
    self.init(
      app: named?["bundleId"]?.string,
      environment: (named?["environment"]?.string).flatMap(Environment.init(rawValue:)), generation: .v2)
  }

  package init(ofNotification body: ReceivedBody) {
    self.init(app: nil, environment: nil, generation: .other)
    switch try? body.told.get() {
    case .notificationV2(let jws):
      self = Self(ofSignedPayload: jws) ?? Self(app: nil, environment: nil, generation: .v2)
    case .notificationV1(let object):
      generation = .v1
      app = object["bid"]?.string
      switch object["environment"]?.string {
      case "PROD", "Production": environment = .production
      case "Sandbox": environment = .sandbox
      default: break
      }
    case .jws, .receipt, .object, nil: break
    }
  }
}
