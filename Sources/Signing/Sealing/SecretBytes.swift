import COpenSSL

/// Secret bytes in memory of their own, wiped when the last owner is gone.
///
/// `@unchecked Sendable` because they are never changed after `init`.
@safe final class SecretBytes: @unchecked Sendable {
  private let bytes: UnsafeMutableRawBufferPointer

  /// Wipes `source` too, when nobody else holds it.
  init(_ source: consuming [UInt8]) {
    unsafe bytes = .allocate(byteCount: source.count, alignment: 1)
    unsafe bytes.copyBytes(from: source)
    source.wipe()
  }

  deinit {
    unsafe OPENSSL_cleanse(bytes.baseAddress, bytes.count)
    unsafe bytes.deallocate()
  }

  func withBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try unsafe body(UnsafeRawBufferPointer(bytes))
  }
}

extension [UInt8] {
  /// Overwrites a secret that is not needed any more; copies made before stay as they are.
  mutating func wipe() {
    unsafe withUnsafeMutableBytes { unsafe OPENSSL_cleanse($0.baseAddress, $0.count) }
  }
}
