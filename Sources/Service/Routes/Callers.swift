package import HTTPServer

/// Whom a connection or a request is counted as, by its address.
package struct Callers: Sendable {
  /// The addresses that have Apple's share.
  package var apple: [Network] = AllowedSources.apple
  /// The operator's own back ends, which have a share of their own.
  package var backEnds: [Network] = []
  /// Those whose `X-Forwarded-For` is believed.
  package var proxies: [Network] = []

  package init() {}

  /// The class of a connection that comes from `peer`.
  ///
  /// A proxy's connections are the operator's; each request on them is judged by its client's address.
  package func connection(of peer: PeerAddress) -> CallerClass {
    proxies.contains { $0.contains(peer.bytes) } ? .known : caller(at: peer.bytes)
  }

  /// The client that sent a request: behind trusted proxies the last address in `X-Forwarded-For` that is none of them.
  ///
  /// Unknown if that is no address: then nobody's share but everybody's fits.
  func client(of head: HTTPRequestHead) -> PeerAddress {
    guard !proxies.isEmpty else { return head.peer }
    let sources = AllowedSources(networks: [], proxies: proxies)
    return sources.sender(peer: head.peer, forwardedFor: head.headers.all("X-Forwarded-For")) ?? .unknown
  }

  /// Whether limits for each address mean nothing for this one: this machine's own, where a proxy that is not named may
  /// pass on what all clients send.
  func standsForMany(_ client: PeerAddress) -> Bool {
    client.bytes == [127, 0, 0, 1] || client.bytes == [UInt8](repeating: 0, count: 15) + [1]
  }

  func caller(at address: [UInt8]) -> CallerClass {
    if apple.contains(where: { $0.contains(address) }) { return .apple }
    return backEnds.contains { $0.contains(address) } ? .known : .anonymous
  }
}
