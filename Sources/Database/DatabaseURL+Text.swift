import Time

extension DatabaseURL {
  /// Returns the configuration as a URL without its password, safe to store and show.
  package static func withoutPassword(_ configuration: DatabaseConfiguration) -> String {
    var text = "mysql://\(encoded(configuration.user))@"
    var options: [String] = []
    switch configuration.address {
    case .host(let name, let port): text += (name.contains(":") ? "[\(name)]" : encoded(name)) + ":\(port)"
    case .socket(let path):
      text += "localhost"
      options.append("socket=\(encoded(path))")
    }
    text += "/" + (configuration.database.map(encoded) ?? "")
    options.append("tls=\(configuration.tls.rawValue)")
    if configuration.connectTimeout == configuration.readTimeout {
      options.append("timeout=\(configuration.readTimeout.milliseconds / 1_000)")
    }
    if let authority = configuration.certificateAuthority { options.append("ca=\(encoded(authority))") }
    return text + "?" + options.joined(separator: "&")
  }

  private static func encoded(_ text: String) -> String {
    text.utf8.map { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
        UInt8(ascii: "/"):
        String(UnicodeScalar(byte))
      default: "%" + String(byte / 16, radix: 16) + String(byte % 16, radix: 16)
      }
    }.joined()
  }
}
