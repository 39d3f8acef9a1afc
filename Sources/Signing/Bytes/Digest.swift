import COpenSSL

/// A SHA-256 value of 32 bytes.
public struct Digest: Hashable, Sendable {
  let words: (UInt64, UInt64, UInt64, UInt64)

  /// Returns `nil` unless there are exactly 32 bytes.
  public init?(bytes: [UInt8]) {
    guard bytes.count == Self.count else { return nil }
    unsafe self.init { unsafe $0.copyBytes(from: bytes) }
  }

  /// Returns `nil` unless there are exactly 64 hexadecimal digits.
  public init?(hex: String) {
    guard let bytes = Hexadecimal.decode(Array(hex.utf8)) else { return nil }
    self.init(bytes: bytes)
  }

  /// Creates a digest that `body` writes into a buffer of 32 bytes.
  init(filledBy body: (UnsafeMutableRawBufferPointer) -> Void) {
    var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    unsafe withUnsafeMutableBytes(of: &words) { unsafe body($0) }
    self.words = words
  }

  public static let count = 32

  public var bytes: [UInt8] { unsafe withUnsafeBytes(of: words) { unsafe Array($0) } }

  /// 64 lower-case hexadecimal digits.
  public var hex: String { Hexadecimal.encode(bytes) }

  public static func == (a: Self, b: Self) -> Bool { a.words == b.words }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(words.0)
    hasher.combine(words.1)
  }
}

extension Digest {
  /// Returns the SHA-256 of `bytes`.
  public static func sha256(_ bytes: [UInt8]) -> Self {
    unsafe bytes.withUnsafeBytes { unsafe SHA256Prefix.empty.digest(appending: $0) }
  }

  /// Returns the HMAC-SHA256 of `bytes` under `key`.
  public static func hmac(_ bytes: [UInt8], key: [UInt8]) -> Self {
    unsafe key.withUnsafeBytes { unsafe hmac(bytes, key: $0) }
  }

  static func hmac(_ bytes: [UInt8], key: UnsafeRawBufferPointer) -> Self {
    unsafe Self { room in
      var count: UInt32 = 0
      let result = unsafe HMAC(
        EVP_sha256(), key.baseAddress, Int32(key.count), bytes, bytes.count,
        room.assumingMemoryBound(to: UInt8.self).baseAddress, &count)
      precondition(unsafe result != nil, "HMAC-SHA256 is not available")
    }
  }

  /// Whether both are equal, in a time that does not depend on where they differ.
  ///
  /// For codes that a stranger may guess; `==` is for identities.
  public func isEqualInConstantTime(to other: Self) -> Bool {
    unsafe withUnsafeBytes(of: words) { a in
      unsafe withUnsafeBytes(of: other.words) { b in
        unsafe CRYPTO_memcmp(a.baseAddress, b.baseAddress, Self.count) == 0
      }
    }
  }
}

extension [UInt8] {
  /// Whether both are equal, in a time that depends only on the lengths.
  public func isEqualInConstantTime(to other: [UInt8]) -> Bool {
    guard count == other.count else { return false }
    return unsafe CRYPTO_memcmp(self, other, count) == 0
  }

  /// Returns unpredictable bytes.
  ///
  /// Stops the process if the machine has no randomness.
  public static func random(count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    precondition(unsafe RAND_bytes(&bytes, Int32(count)) == 1, "no randomness: \(OpenSSLFailure.drain())")
    return bytes
  }
}
