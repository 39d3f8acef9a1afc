import CCurl
import Glibc

/// The certificates a peer's chain may end in: the system's, and those added.
struct PeerRoots: Sendable {
  /// What curl is to be given in place of its default file; `nil` leaves the default.
  ///
  /// Only the added ones where curl has a directory of system roots besides (Debian); else the system's file and the
  /// added ones, as giving some replaces the file.
  let bundle: [UInt8]?

  /// `additional` is PEM, any number, or one certificate as DER.
  init(additional: [UInt8]) {
    guard !additional.isEmpty else {
      bundle = nil
      return
    }
    let isDER = additional.first == 0x30
    bundle = Self.systemFile() + (isDER ? Self.pem(additional) : additional)
  }

  /// The system's roots as far as they are not in a directory that curl reads anyway.
  private static func systemFile() -> [UInt8] {
    guard let version = unsafe curl_version_info(CURLVERSION_SEVENTH), unsafe version.pointee.capath == nil,
      let path = unsafe version.pointee.cainfo
    else { return [] }
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return [] }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let got = unsafe chunk.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
      guard got > 0 else { return bytes + Array("\n".utf8) }
      bytes += chunk.prefix(got)
    }
  }

  static func pem(_ der: [UInt8]) -> [UInt8] {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var text = Array("-----BEGIN CERTIFICATE-----\n".utf8)
    for start in stride(from: 0, to: der.count, by: 48) {
      let line = der[start..<min(start + 48, der.count)]
      for group in stride(from: line.startIndex, to: line.endIndex, by: 3) {
        let bytes = line[group..<min(group + 3, line.endIndex)]
        let bits = (0..<3).reduce(0) { $0 << 8 | ($1 < bytes.count ? Int(bytes[group + $1]) : 0) }
        for digit in 0..<4 {
          text.append(digit <= bytes.count ? alphabet[bits >> (18 - 6 * digit) & 63] : UInt8(ascii: "="))
        }
      }
      text.append(UInt8(ascii: "\n"))
    }
    return text + Array("-----END CERTIFICATE-----\n".utf8)
  }
}
