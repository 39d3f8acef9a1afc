package import HTTPServer

/// The addresses from which notifications are accepted; optionally only Apple's network.
package struct IPAllowlist: Sendable {
  private let networks: [Network]
  private let proxies: [Network]

  package static let anywhere = Self(networks: [], proxies: [])

  /// Apple's own: 17.0.0.0/8.
  package static let apple: [Network] = [Network(bytes: [17, 0, 0, 0], prefix: 8)]

  /// - Parameters:
  ///   - networks: the permitted senders; empty permits all.
  ///   - proxies: whose `X-Forwarded-For` is trusted. Without one the header is a stranger's claim and is ignored.
  package init(networks: [Network], proxies: [Network]) {
    self.networks = networks
    self.proxies = proxies
  }

  /// Whether a request of `peer` is accepted.
  ///
  /// Behind a trusted proxy the sender is the last address in the header that is not a trusted proxy.
  package func allow(peer: PeerAddress, forwardedFor: [String]) -> Bool {
    guard !networks.isEmpty else { return true }
    guard let sender = sender(peer: peer, forwardedFor: forwardedFor) else { return false }
    return networks.contains { $0.contains(sender.bytes) }
  }

  /// Whether an unverified message of `sender` may be Apple's: other senders are not accepted, or an unnamed proxy on
  /// this machine passes on all messages.
  func mayStandForApple(_ sender: PeerAddress) -> Bool {
    !sender.bytes.isEmpty && (!networks.isEmpty || sender.isThisMachine)
  }

  /// Returns the sender of a request.
  ///
  /// Unknown if a trusted proxy names no address; then it counts as neither the proxy nor Apple.
  func client(of head: HTTPRequestHead) -> PeerAddress {
    sender(peer: head.peer, forwardedFor: head.headers.all("X-Forwarded-For")) ?? .unknown
  }

  /// Returns the sender of a request of `peer`, through trusted proxies; `nil` if one of them names no address.
  package func sender(peer: PeerAddress, forwardedFor: [String]) -> PeerAddress? {
    guard !proxies.isEmpty else { return peer }
    var sender = peer
    var hops: [String] = forwardedFor.flatMap { header in
      header.split(separator: ",").map { hop in String(hop.filter { $0 != " " }) }
    }
    while proxies.contains(where: { $0.contains(sender.bytes) }), let hop = hops.popLast() {
      guard let address = PeerAddress(numeric: hop) else { return nil }
      sender = address
    }
    return sender
  }
}

/// A range of addresses: `17.0.0.0/8`, `2001:db8::/32`, or one address.
package struct Network: Hashable, Sendable {
  package let bytes: [UInt8]
  let prefix: Int

  init(bytes: [UInt8], prefix: Int) {
    self.bytes = bytes
    self.prefix = prefix
  }

  /// Returns `nil` if the text is not a range.
  package init?(_ text: String) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let first = parts.first, let address = PeerAddress(numeric: String(first)) else { return nil }
    let bits = address.bytes.count * 8
    let prefix = parts.count == 1 ? bits : Int(parts[1]) ?? -1
    guard (0...bits).contains(prefix) else { return nil }
    self.init(bytes: address.bytes, prefix: prefix)
  }

  func contains(_ address: [UInt8]) -> Bool {
    guard address.count == bytes.count else { return false }
    return (0..<prefix).allSatisfy { bit in
      let mask: UInt8 = 0x80 >> UInt8(bit % 8)
      return address[bit / 8] & mask == bytes[bit / 8] & mask
    }
  }
}
