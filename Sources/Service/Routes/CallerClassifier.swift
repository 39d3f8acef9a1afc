package import HTTPServer
import Signing

/// Whom a connection or a request is counted as, by its address.
package struct CallerClassifier: Sendable {
  /// The addresses that have Apple's share.
  package var apple: [Network] = IPAllowlist.apple
  /// The operator's own back ends, which have a share of their own.
  package var backEnds: [Network] = []
  /// Those whose `X-Forwarded-For` is believed.
  package var proxies: [Network] = []

  /// The header in which those say which certificate a client has; nil: in none.
  package var certificateHeader: String?

  package init() {}

  /// The class of a connection that comes from `peer`.
  ///
  /// A proxy's connections are the operator's; each request on them is judged by its client's address.
  package func connection(of peer: PeerAddress) -> CallerClass {
    proxies.contains { $0.contains(peer.bytes) } ? .known : caller(at: peer.bytes)
  }

  /// The client that sent a request: behind trusted proxies the last address in `X-Forwarded-For` that is none of them.
  ///
  /// Unknown if that is no address: then nobody's share but everybody's fits. The proxy itself if there is no such header.
  func client(of head: HTTPRequestHead) -> PeerAddress {
    guard !proxies.isEmpty else { return head.peer }
    return IPAllowlist(networks: [], proxies: proxies).client(of: head)
  }

  /// The certificate that the client of a request has, as a trusted proxy says; anybody else's word is ignored.
  func certificate(of head: HTTPRequestHead) -> CertificateFingerprint? {
    guard let certificateHeader, proxies.contains(where: { $0.contains(head.peer.bytes) }) else { return nil }
    // Of two fields one may be the client's own.
    let values = head.headers.all(certificateHeader)
    return values.count == 1 ? CertificateFingerprint(header: values[0]) : nil
  }

  /// The class of whoever sent a request.
  ///
  /// What a trusted proxy sends for nobody is its own: it asks whether the service lives.
  func caller(of head: HTTPRequestHead) -> CallerClass {
    let client = client(of: head)
    return proxies.contains { $0.contains(client.bytes) } ? .known : caller(at: client.bytes)
  }

  /// Whether limits for each address mean nothing for this one: this machine's own, where a proxy that is not named may
  /// pass on what all clients send.
  func standsForMany(_ client: PeerAddress) -> Bool { client.isThisMachine }

  func caller(at address: [UInt8]) -> CallerClass {
    if apple.contains(where: { $0.contains(address) }) { return .apple }
    return backEnds.contains { $0.contains(address) } ? .known : .anonymous
  }
}

extension PeerAddress {
  /// Whether it is the one address of this machine that its own programs connect from unless they choose another.
  var isThisMachine: Bool { bytes == [127, 0, 0, 1] || bytes == [UInt8](repeating: 0, count: 15) + [1] }
}
