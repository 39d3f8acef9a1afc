/// The SHA-256 of a client's certificate in DER, by which a proxy identifies an app's client.
package struct CertificateFingerprint: Hashable, Sendable {
  package let digest: Digest

  /// Reads the first certificate of a file, PEM or DER; `nil` without one.
  package init?(file: [UInt8]) {
    let der = PEM.blocks("CERTIFICATE", in: file)?.first ?? file
    guard (try? Certificate(der: der)) != nil else { return nil }
    digest = .sha256(der)
  }

  /// Reads a proxy's header; `nil` unless it is exactly one certificate.
  ///
  /// 64 hexadecimal digits, with or without colons, as HAProxy writes them (`sha2(256),hex`); `Hash=` of Envoy's
  /// `X-Forwarded-Client-Cert`; or a certificate in PEM with percent escapes (nginx' `$ssl_client_escaped_cert`).
  /// Several certificates are rejected, because a client could have sent one of them itself.
  package init?(header text: String) {
    guard text.utf8.count <= Self.longest else { return nil }
    if let digest = Self.digest(ofDigits: text) {
      self.digest = digest
      return
    }
    let hashes = text.split { $0 == ";" || $0 == "," }.filter { $0.lowercased().hasPrefix("hash=") }
    if hashes.count == 1, let digest = Self.digest(ofDigits: String(hashes[0].dropFirst("hash=".count))) {
      self.digest = digest
      return
    }
    guard hashes.isEmpty, let unescaped = text.removingPercentEscapes,
      let blocks = PEM.blocks("CERTIFICATE", in: unescaped), blocks.count == 1
    else { return nil }
    digest = .sha256(blocks[0])
  }

  /// Bytes; a certificate with percent escapes has some 3,000.
  private static let longest = 16 << 10

  private static func digest(ofDigits text: String) -> Digest? {
    let digits = text.lowercased().filter { $0 != ":" && $0 != " " }
    return digits.utf8.count == 64 ? Digest(hex: digits) : nil
  }
}

extension String {
  /// `nil` if two digits do not follow a percent sign.
  fileprivate var removingPercentEscapes: [UInt8]? {
    var (bytes, rest) = ([UInt8](), Array(utf8)[...])
    while let first = rest.popFirst() {
      guard first == UInt8(ascii: "%") else {
        bytes.append(first)
        continue
      }
      guard rest.count >= 2, let byte = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else {
        return nil
      }
      bytes.append(byte)
      rest = rest.dropFirst(2)
    }
    return bytes
  }
}
