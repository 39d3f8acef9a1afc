package import HTTPServer
import Signing

package struct CallerClassifier: Sendable {
  /// The addresses with Apple's share.
  package var apple: [Network] = IPAllowlist.apple
  /// The operator's own back ends, which have their own share.
  package var backEnds: [Network] = []
  /// The proxies whose `X-Forwarded-For` is trusted.
  package var proxies: [Network] = []

  /// The header in which those proxies name a client's certificate; `nil` without one.
  package var certificateHeader: String?

  package init() {}

  /// Returns the class of a connection that comes from `peer`.
  ///
  /// A proxy's connections are the operator's; each request on them is judged by its client's address.
  package func connection(of peer: PeerAddress) -> CallerClass {
    proxies.contains { $0.contains(peer.bytes) } ? .known : caller(at: peer.bytes)
  }

  /// Returns the client of a request: behind trusted proxies the last address in `X-Forwarded-For` that is not one of
  /// them.
  ///
  /// Unknown if that is not an address, which fits only the shared class. The proxy itself without such a header.
  func client(of head: HTTPRequestHead) -> PeerAddress {
    guard !proxies.isEmpty else { return head.peer }
    return IPAllowlist(networks: [], proxies: proxies).client(of: head)
  }

  /// Returns the client's certificate, as a trusted proxy names it; the header of any other peer is ignored.
  func certificate(of head: HTTPRequestHead) -> CertificateFingerprint? {
    guard let certificateHeader, proxies.contains(where: { $0.contains(head.peer.bytes) }) else { return nil }
    // One of two fields may be the client's own.
    let values = head.headers.all(certificateHeader)
    return values.count == 1 ? CertificateFingerprint(header: values[0]) : nil
  }

  /// Returns the class of a request's sender.
  ///
  /// A trusted proxy's request without a client is its own health check.
  func caller(of head: HTTPRequestHead) -> CallerClass {
    let client = client(of: head)
    return proxies.contains { $0.contains(client.bytes) } ? .known : caller(at: client.bytes)
  }

  /// Whether the limits for each address do not apply: this machine's own, where an unnamed proxy may pass on the
  /// requests of all clients.
  func standsForMany(_ client: PeerAddress) -> Bool { client.isThisMachine }

  func caller(at address: [UInt8]) -> CallerClass {
    if apple.contains(where: { $0.contains(address) }) { return .apple }
    return backEnds.contains { $0.contains(address) } ? .known : .anonymous
  }
}

extension PeerAddress {
  /// Whether it is this machine's default address for its own programs.
  var isThisMachine: Bool { bytes == [127, 0, 0, 1] || bytes == [UInt8](repeating: 0, count: 15) + [1] }
}
