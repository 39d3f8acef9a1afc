import CCurl

/// TLS of outgoing calls: at least 1.2, the peer's name and chain verified.
extension CurlTransfer {
  /// - Parameter roots: whom the peer's chain must lead to; without a bundle those of the system.
  func setTLS(of easy: UnsafeMutableRawPointer, _ roots: PeerRoots) {
    unsafe switchyard_curl_set_long(easy, CURLOPT_SSL_VERIFYPEER, 1)
    unsafe switchyard_curl_set_long(easy, CURLOPT_SSL_VERIFYHOST, 2)
    unsafe switchyard_curl_set_long(easy, CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
    if let bundle = roots.bundle {
      unsafe bundle.withUnsafeBytes { bytes in
        _ = unsafe switchyard_curl_set_blob(easy, CURLOPT_CAINFO_BLOB, bytes.baseAddress, bytes.count)
      }
    }
  }
}
