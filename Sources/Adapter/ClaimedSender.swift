import JSON
package import Purchases
import Signing

/// Of which app and environment a notification says it is, read without verifying anything.
///
/// A stranger's word: good enough to pass the body on to that app's own back end, which hears such bodies from anybody
/// who knows its URL anyway, and for nothing else.
package struct ClaimedSender: Hashable, Sendable {
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

  package init(ofNotification body: [UInt8]) {
    self.init(app: nil, environment: nil, generation: .other)
    switch try? Detection(body) {
    case .notificationV2(let jws):
      generation = .v2
      let parts = jws.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
      guard parts.count == 3, let payload = Base64.url.decode(Array(parts[1])),
        let object = try? JSONReader.read(payload).object
      else { return }
      let named = ["data", "summary", "appData"].lazy.compactMap { object[$0]?.object }.first
      app = named?["bundleId"]?.string
      environment = (named?["environment"]?.string).flatMap(Environment.init(rawValue:))
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
