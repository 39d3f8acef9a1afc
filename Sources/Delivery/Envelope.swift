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

  package init(_ message: Digest, body: [UInt8], isProven: Bool = true, to destination: Destination) {
    webhookID = Self.webhookID(of: message, isProven: isProven, for: destination)
    url = destination.url
    self.body = body
  }

  /// - Parameter isProven: false for what nothing vouches for. A stranger's copy of a V1 notification without its password
  ///   is known by the same digest; a back end that drops repeats must not drop Apple's for it.
  package static func webhookID(of message: Digest, isProven: Bool = true, for destination: Destination) -> String {
    var name = "\(message.hex)\n\(destination.scope.environment.rawValue)\n\(destination.name)"
    if !isProven { name += "\nunproven" }
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
