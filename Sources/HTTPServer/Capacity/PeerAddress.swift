import Glibc

package struct PeerAddress: Hashable, Sendable, CustomStringConvertible {
  /// 4 bytes for IPv4 (also mapped into IPv6), 16 for IPv6, empty without an address.
  package let bytes: [UInt8]
  package let port: UInt16

  package init(bytes: [UInt8], port: UInt16) {
    self.bytes = bytes
    self.port = port
  }

  /// The peer of a request without a network.
  package static let unknown = PeerAddress(bytes: [], port: 0)

  /// The part that counts as one address: for IPv6 the /64, because one host may use all of its addresses.
  package var site: [UInt8] { bytes.count == 16 ? Array(bytes.prefix(8)) : bytes }

  /// `192.0.2.1` or `2001:db8::1`, without the port.
  package var description: String {
    switch bytes.count {
    case 4: bytes.map { String($0) }.joined(separator: ".")
    case 16: Self.numeric(bytes)
    default: "unknown"
    }
  }

  /// Parses the numeric form, `192.0.2.1`, `::ffff:192.0.2.1` (the same) or `2001:db8::1`; `nil` for other text.
  package init?(numeric text: String) {
    var bytes = [UInt8](repeating: 0, count: 16)
    if unsafe inet_pton(AF_INET, text, &bytes) == 1 {
      self.init(bytes: Array(bytes.prefix(4)), port: 0)
    } else if unsafe inet_pton(AF_INET6, text, &bytes) == 1 {
      self.init(bytes: Self.unmapped(bytes), port: 0)
    } else {
      return nil
    }
  }

  init(_ storage: sockaddr_storage) {
    switch Int32(storage.ss_family) {
    case AF_INET:
      let address = unsafe withUnsafeBytes(of: storage) { unsafe $0.load(as: sockaddr_in.self) }
      let bytes = unsafe withUnsafeBytes(of: address.sin_addr) { unsafe Array($0) }
      self.init(bytes: bytes, port: UInt16(bigEndian: address.sin_port))
    case AF_INET6:
      let address = unsafe withUnsafeBytes(of: storage) { unsafe $0.load(as: sockaddr_in6.self) }
      let bytes = unsafe withUnsafeBytes(of: address.sin6_addr) { unsafe Array($0) }
      self.init(bytes: Self.unmapped(bytes), port: UInt16(bigEndian: address.sin6_port))
    default: self = .unknown
    }
  }

  /// Returns the IPv4 address in 16 bytes, if they contain one.
  private static func unmapped(_ bytes: [UInt8]) -> [UInt8] {
    let isMapped = bytes.prefix(12).elementsEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF])
    return isMapped ? Array(bytes.suffix(4)) : bytes
  }

  private static func numeric(_ bytes: [UInt8]) -> String {
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    guard unsafe inet_ntop(AF_INET6, bytes, &text, socklen_t(text.count)) != nil else { return "unknown" }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
