import COpenSSL

/// The shared TLS settings of a server: its certificate, its key, and TLS 1.2 and 1.3.
///
/// `@unchecked Sendable` because a context is complete when it leaves the initializer, and OpenSSL lets threads make
/// sessions of it at the same time.
@safe final class TLSContext: @unchecked Sendable {
  private let context: OpaquePointer

  init(_ files: TLSFiles) throws(HTTPServerError) {
    guard let context = unsafe SSL_CTX_new(TLS_server_method()) else { throw Self.failure("no memory") }
    do throws(HTTPServerError) {
      guard unsafe shim_tls_only_current_versions(context) == 1 else { throw Self.failure("the versions") }
      unsafe shim_tls_set_modes(context)
      try unsafe Self.load(files, into: context)
    } catch {
      unsafe SSL_CTX_free(context)
      throw error
    }
    unsafe self.context = context
  }

  deinit { unsafe SSL_CTX_free(context) }

  /// Returns a server's session for the caller to free; `nil` without memory.
  func session() -> OpaquePointer? {
    guard let session = unsafe SSL_new(context) else { return nil }
    unsafe SSL_set_accept_state(session)
    unsafe shim_tls_count_records(session)
    return unsafe session
  }

  // MARK: Certificate and key

  private static func load(_ files: TLSFiles, into context: OpaquePointer) throws(HTTPServerError) {
    ERR_clear_error()
    let chainFault = unsafe withMemory(files.certificate) { unsafe loadChain($0, into: context) }
    if let chainFault { throw failure(chainFault) }
    let keyFault = unsafe withMemory(files.key) { unsafe loadKey($0, into: context) }
    if let keyFault { throw failure(keyFault) }
    guard unsafe SSL_CTX_check_private_key(context) == 1 else {
      throw failure("the key does not belong to the certificate")
    }
  }

  /// Returns the fault of a chain, whose first certificate is the server's.
  private static func loadChain(_ memory: OpaquePointer, into context: OpaquePointer) -> String? {
    guard let leaf = unsafe PEM_read_bio_X509(memory, nil, nil, nil) else {
      return "the certificate file has no certificate in PEM form"
    }
    defer { unsafe X509_free(leaf) }
    guard unsafe SSL_CTX_use_certificate(context, leaf) == 1 else { return "the certificate cannot be used" }
    while let next = unsafe PEM_read_bio_X509(memory, nil, nil, nil) {
      defer { unsafe X509_free(next) }
      guard unsafe shim_tls_add_to_chain(context, next) == 1 else { return "the certificate chain cannot be used" }
    }
    // Reading past the last one is an error to OpenSSL.
    ERR_clear_error()
    return nil
  }

  private static func loadKey(_ memory: OpaquePointer, into context: OpaquePointer) -> String? {
    // With an empty passphrase: OpenSSL would ask for one at the terminal.
    var passphrase: CChar = 0
    guard let key = unsafe PEM_read_bio_PrivateKey(memory, nil, nil, &passphrase) else {
      return "the key file has no private key in PEM form without a passphrase"
    }
    defer { unsafe EVP_PKEY_free(key) }
    return unsafe SSL_CTX_use_PrivateKey(context, key) == 1 ? nil : "the key does not belong to the certificate"
  }

  private static func withMemory(_ bytes: [UInt8], _ body: (OpaquePointer) -> String?) -> String? {
    unsafe bytes.withUnsafeBytes { bytes in
      guard let memory = unsafe BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count)) else { return "no memory" }
      defer { unsafe BIO_free(memory) }
      return unsafe body(memory)
    }
  }

  /// Adds OpenSSL's last error, which names the detail.
  private static func failure(_ what: String) -> HTTPServerError {
    var text = [CChar](repeating: 0, count: 256)
    let code = ERR_peek_last_error()
    ERR_clear_error()
    guard code != 0 else { return HTTPServerError(code: .badCertificate, detail: what) }
    unsafe ERR_error_string_n(code, &text, text.count)
    let detail = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return HTTPServerError(code: .badCertificate, detail: "\(what) (\(detail))")
  }
}
