import COpenSSL

/// Secret bytes in separate memory, wiped when the last owner is gone.
///
/// `@unchecked Sendable` because they are never changed after `init`.
@safe final class SecretBytes: @unchecked Sendable {
  private let bytes: UnsafeMutableRawBufferPointer

  /// Wipes `source` too, if it has no other owner.
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
  /// Overwrites an unneeded secret; earlier copies stay unchanged.
  mutating func wipe() {
    unsafe withUnsafeMutableBytes { unsafe OPENSSL_cleanse($0.baseAddress, $0.count) }
  }
}
