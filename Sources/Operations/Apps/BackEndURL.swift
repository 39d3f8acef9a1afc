import Ledger

/// A URL of an app's own back end.
package enum BackEndURL {
  private static let longest = 2_048

  /// Whether it is http or https, at most 2048 bytes of ASCII, without user or password.
  package static func isUsable(_ url: String) -> Bool {
    let isURL = ["http://", "https://"].contains { url.hasPrefix($0) && url.utf8.count > $0.utf8.count }
    let isPlain = url.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") }
    let authority = url.split(separator: "/", maxSplits: 2).dropFirst().first ?? ""
    return isURL && isPlain && url.utf8.count <= longest && !authority.contains("@")
  }

  /// Whether others can read the traffic: plain http to another host.
  package static func isReadableByOthers(_ url: String) -> Bool {
    url.hasPrefix("http://") && !Destination.isLoopback(url)
  }
}
