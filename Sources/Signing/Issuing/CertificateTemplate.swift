package import Time

/// The contents of a certificate that do not follow from the keys.
package struct CertificateTemplate: Sendable {
  /// An extension by its object identifier, with the DER of its value.
  package struct Extension: Sendable {
    package var identifier: String
    package var isCritical: Bool
    package var value: [UInt8]

    package init(identifier: String, isCritical: Bool = false, value: [UInt8]) {
      self.identifier = identifier
      self.isCritical = isCritical
      self.value = value
    }

    /// Creates Apple's marker, which carries a NULL.
    package init(_ marker: CertificateMarker) { self.init(identifier: marker.rawValue, value: [0x05, 0x00]) }

    /// extendedKeyUsage of a certificate that answers OCSP for its issuer (RFC 6960 section 4.2.2.2).
    package static let ocspSigning = Self(
      identifier: "2.5.29.37",
      value: [0x30, 0x0A, 0x06, 0x08, 0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x09])
  }

  package var commonName: String
  package var organization = "Switchyard Simulator"
  package var notBefore: Timestamp
  package var notAfter: Timestamp
  /// basicConstraints; `nil` omits them.
  package var isAuthority: Bool?
  package var pathLength: Int?
  /// keyUsage in OpenSSL's words; `nil` omits it.
  package var keyUsage: String?
  /// The URL of its issuer's OCSP responder; `nil` omits the authority information access.
  package var ocspURL: String?
  package var extensions: [Extension] = []

  package init(commonName: String, notBefore: Timestamp, notAfter: Timestamp, isAuthority: Bool?) {
    self.commonName = commonName
    self.notBefore = notBefore
    self.notAfter = notAfter
    self.isAuthority = isAuthority
    keyUsage =
      switch isAuthority {
      case true?: "critical,keyCertSign,cRLSign"
      case false?: "critical,digitalSignature"
      case nil: nil
      }
  }
}
