package import HTTPClient
package import Ledger
import Purchases
package import Signing
package import Time

/// A message as it goes to a destination: the body as Apple posted it, and an id by which a repeat is known.
package struct Envelope: Sendable {
  /// Stable for the message and the destination, over repeats, replays and restarts of any process.
  package let webhookID: String
  private let url: String
  private let body: [UInt8]

  package init(_ message: Digest, body: [UInt8], to destination: Destination) {
    webhookID = Self.webhookID(of: message, for: destination)
    url = destination.url
    self.body = body
  }

  package static func webhookID(of message: Digest, for destination: Destination) -> String {
    let name = "\(message.hex)\n\(destination.scope.environment.rawValue)\n\(destination.name)"
    return "msg_" + Digest.sha256(Array(name.utf8)).hex.prefix(32)
  }

  /// - Parameter deadline: until the whole answer; its body is not looked at.
  package func request(within deadline: Interval) -> ClientRequest {
    ClientRequest(
      method: "POST", url: url,
      // Apple posts both generations with this type, and a message is kept without its headers.
      headers: [("Content-Type", "application/json"), ("webhook-id", webhookID)],
      body: body, deadline: deadline, responseLimit: Self.responseLimit)
  }

  private static let responseLimit = 64 << 10
}
