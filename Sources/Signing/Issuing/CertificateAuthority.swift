import COpenSSL
import Time

/// A certificate with its key that issues others: the simulator's Apple, made at run time.
///
/// It follows its templates, even wrong ones, because the verifier must judge them.
package struct CertificateAuthority: Sendable {
  package let certificate: Certificate
  package let key: PrivateKey

  package init(certificate: Certificate, key: PrivateKey) {
    self.certificate = certificate
    self.key = key
  }

  package static func root(_ template: CertificateTemplate, key: PrivateKey) throws(CertificateError) -> Self {
    Self(certificate: try CertificateDraft(template).signed(by: key, issuer: nil, for: key), key: key)
  }

  /// Issues a certificate for `key`.
  package func issue(_ template: CertificateTemplate, to key: PrivateKey) throws(CertificateError) -> Self {
    let issued = try CertificateDraft(template).signed(by: self.key, issuer: certificate, for: key)
    return Self(certificate: issued, key: key)
  }
}

@safe private struct CertificateDraft: ~Copyable {
  private let x509: OpaquePointer
  private let template: CertificateTemplate

  init(_ template: CertificateTemplate) {
    guard let x509 = unsafe X509_new() else { preconditionFailure("no memory for a certificate") }
    unsafe self.x509 = x509
    self.template = template
  }

  deinit { unsafe X509_free(x509) }

  /// Signs with itself if `issuer` is nil.
  consuming func signed(
    by key: PrivateKey, issuer: Certificate?, for subjectKey: PrivateKey
  ) throws(CertificateError) -> Certificate {
    guard fill(with: subjectKey), setIssuer(issuer), addExtensions(issuer) else {
      throw CertificateError(.cannotIssue, OpenSSLFailure.drain())
    }
    let isSigned = unsafe key.withPointer { [x509] key in
      // Apple signs with SHA-384 where the key is P-384.
      let digest = unsafe EVP_PKEY_get_bits(key) == 384 ? EVP_sha384() : EVP_sha256()
      return unsafe X509_sign(x509, key, digest) > 0
    }
    guard isSigned, unsafe X509_up_ref(x509) == 1 else {
      throw CertificateError(.cannotIssue, OpenSSLFailure.drain())
    }
    // Parsed again, so that it equals a stranger's view.
    let issued = try unsafe Certificate(takingOwnershipOf: x509)
    return try Certificate(der: issued.der)
  }

  private func fill(with subjectKey: PrivateKey) -> Bool {
    let serial = [UInt8].random(count: 15).withFirst { $0 & 0x7F | 0x40 }
    let name = unsafe X509_get_subject_name(x509)
    let number = unsafe BN_bin2bn(serial, Int32(serial.count), nil)
    defer { unsafe BN_free(number) }
    return unsafe X509_set_version(x509, 2) == 1
      && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(x509)) != nil
      && Self.add(template.commonName, as: "CN", to: name)
      && Self.add(template.organization, as: "O", to: name)
      && ASN1_TIME_set(X509_getm_notBefore(x509), Int(template.notBefore.seconds)) != nil
      && ASN1_TIME_set(X509_getm_notAfter(x509), Int(template.notAfter.seconds)) != nil
      && subjectKey.withPointer { unsafe X509_set_pubkey(x509, $0) == 1 }
  }

  private func setIssuer(_ issuer: Certificate?) -> Bool {
    guard let issuer else { return unsafe X509_set_issuer_name(x509, X509_get_subject_name(x509)) == 1 }
    return unsafe issuer.withPointer { unsafe X509_set_issuer_name(x509, X509_get_subject_name($0)) == 1 }
  }

  private func addExtensions(_ issuer: Certificate?) -> Bool {
    var standard: [(Int32, String)] = []
    if let isAuthority = template.isAuthority {
      let length = template.pathLength.map { ",pathlen:\($0)" } ?? ""
      standard.append((NID_basic_constraints, "critical,CA:\(isAuthority ? "TRUE" : "FALSE")\(length)"))
    }
    if let keyUsage = template.keyUsage { standard.append((NID_key_usage, keyUsage)) }
    standard.append((NID_subject_key_identifier, "hash"))
    if issuer != nil { standard.append((NID_authority_key_identifier, "keyid:always")) }
    if let url = template.ocspURL { standard.append((NID_info_access, "OCSP;URI:\(url)")) }
    for (identifier, value) in standard {
      let isAdded =
        if let issuer {
          unsafe issuer.withPointer { unsafe add(identifier, value, issuer: $0) }
        } else {
          unsafe add(identifier, value, issuer: x509)
        }
      guard isAdded else { return false }
    }
    return template.extensions.allSatisfy { add($0) }
  }

  private func add(_ identifier: Int32, _ value: String, issuer: OpaquePointer) -> Bool {
    var context = unsafe X509V3_CTX()
    unsafe X509V3_set_ctx(&context, issuer, x509, nil, nil, 0)
    guard let made = unsafe X509V3_EXT_conf_nid(nil, &context, identifier, value) else { return false }
    defer { unsafe X509_EXTENSION_free(made) }
    return unsafe X509_add_ext(x509, made, -1) == 1
  }

  private func add(_ custom: CertificateTemplate.Extension) -> Bool {
    guard let identifier = unsafe OBJ_txt2obj(custom.identifier, 1), let value = unsafe ASN1_OCTET_STRING_new() else {
      return false
    }
    defer {
      unsafe ASN1_OBJECT_free(identifier)
      unsafe ASN1_OCTET_STRING_free(value)
    }
    guard unsafe ASN1_OCTET_STRING_set(value, custom.value, Int32(custom.value.count)) == 1,
      let made = unsafe X509_EXTENSION_create_by_OBJ(nil, identifier, custom.isCritical ? 1 : 0, value)
    else { return false }
    defer { unsafe X509_EXTENSION_free(made) }
    return unsafe X509_add_ext(x509, made, -1) == 1
  }

  private static func add(_ text: String, as field: String, to name: OpaquePointer?) -> Bool {
    let bytes = Array(text.utf8)
    return unsafe X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8, bytes, Int32(bytes.count), -1, 0) == 1
  }
}

extension Timestamp {
  fileprivate var seconds: Int64 { sinceEpoch / 1_000 }
}

extension [UInt8] {
  fileprivate func withFirst(_ change: (UInt8) -> UInt8) -> Self {
    guard let first else { return self }
    return [change(first)] + dropFirst()
  }
}
