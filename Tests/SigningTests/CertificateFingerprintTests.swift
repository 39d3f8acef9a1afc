@testable import Signing

@Suite struct `A certificate's fingerprint` {
  private static let der = ReceiptPKI.known(at: Timestamp(1_767_600_000_000)).root.certificate.der
  private static let hex = Digest.sha256(der).hex

  private static func escaped(_ text: [UInt8]) -> String {
    text.map { byte in
      let isPlain = (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
      let digits = String(byte, radix: 16, uppercase: true)
      return isPlain ? String(UnicodeScalar(byte)) : "%" + (digits.count == 1 ? "0" : "") + digits
    }.joined()
  }

  @Test func `is read in every form in which a proxy names it`() {
    let colons = stride(from: 0, to: 64, by: 2).map { String(Array(Self.hex.uppercased())[$0...$0 + 1]) }
      .joined(separator: ":")
    let pem = PEM.encode(Self.der, label: "CERTIFICATE")
    for header in [
      Self.hex, Self.hex.uppercased(), colons, "By=spiffe://x;Hash=\(Self.hex);Subject=\"CN=a\"", "hash=\(Self.hex)",
      Self.escaped(pem),
    ] {
      #expect(CertificateFingerprint(header: header)?.digest.hex == Self.hex, "\(header)")
    }
    #expect(CertificateFingerprint(file: pem)?.digest.hex == Self.hex)
    #expect(CertificateFingerprint(file: Self.der)?.digest.hex == Self.hex)
  }

  @Test func `is none where it is not one certificate's`() {
    let pem = PEM.encode(Self.der, label: "CERTIFICATE")
    let other = String(repeating: "0", count: 64)
    for header in [
      "", "SUCCESS", String(Self.hex.dropLast()), Self.hex + "0", "Hash=\(Self.hex),Hash=\(other)",
      "Hash=\(other);Hash=\(Self.hex)", "Hash=\(Self.hex.dropLast())", Self.escaped(pem + pem), "%4", "%GG",
      "%2B1" + Self.hex, String(repeating: "a", count: 64 << 10), "\(Self.hex),\(other)",
    ] {
      #expect(CertificateFingerprint(header: header) == nil, "\(header.prefix(90))")
    }
    #expect(CertificateFingerprint(file: Array("no certificate".utf8)) == nil)
    #expect(CertificateFingerprint(file: PEM.encode([1, 2, 3], label: "CERTIFICATE")) == nil)
  }
}
