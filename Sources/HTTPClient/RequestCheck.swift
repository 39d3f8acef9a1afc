extension ClientRequest {
  /// Refuses what must not reach the wire: other schemes, user information, and anything with which a value could become
  /// a line of its own.
  func check() throws(HTTPClientError) {
    try checkURL()
    guard !method.isEmpty, method.utf8.allSatisfy(Self.isTokenByte) else {
      throw HTTPClientError(.invalidRequest, "the method is not a word")
    }
    for (name, value) in headers {
      guard !name.isEmpty, name.utf8.allSatisfy(Self.isTokenByte) else {
        throw HTTPClientError(.invalidRequest, "a header's name is not a word")
      }
      guard value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
        throw HTTPClientError(.invalidRequest, "the value of \(name) has control characters")
      }
    }
  }

  private func checkURL() throws(HTTPClientError) {
    let scheme = url.prefix { $0 != ":" }.lowercased()
    guard scheme == "http" || scheme == "https", url.dropFirst(scheme.count).hasPrefix("://") else {
      throw HTTPClientError(.unsupportedURL, "only http and https")
    }
    guard url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") }) else {
      throw HTTPClientError(.unsupportedURL, "a URL is printable ASCII without spaces or backslashes")
    }
    let authority = url.dropFirst(scheme.count + 3).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    guard !authority.isEmpty else { throw HTTPClientError(.unsupportedURL, "there is no host") }
    guard !authority.contains("@") else {
      throw HTTPClientError(.unsupportedURL, "user information does not belong in a URL")
    }
  }

  private static func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"):
      true
    case let other: "!#$%&'*+-.^_`|~".utf8.contains(other)
    }
  }
}
