import COpenSSL

/// The hash of a receipt's signature: SHA-1 until 2023, SHA-256 since.
package enum SignatureHash: Hashable, Sendable, CaseIterable {
  case sha1, sha256

  /// Returns the hash of `content`: 20 or 32 bytes.
  package func digest(of content: Span<UInt8>) -> [UInt8] { unsafe function.withHash(of: content) { unsafe Array($0) } }

  var function: HashFunction {
    switch self {
    case .sha1: .sha1
    case .sha256: .sha256
    }
  }
}

/// A hash fetched from OpenSSL's providers once, because each lookup costs more than hashing a short receipt.
///
/// `@unchecked Sendable` because it is only read after `init`.
@safe final class HashFunction: @unchecked Sendable {
  static let sha1 = HashFunction("SHA1")
  static let sha256 = HashFunction("SHA256")

  private let function: OpaquePointer
  let count: Int

  private init(_ name: String) {
    guard let function = unsafe EVP_MD_fetch(nil, name, nil) else {
      preconditionFailure("\(name) is not available: \(OpenSSLFailure.drain())")
    }
    unsafe self.function = function
    count = Int(unsafe EVP_MD_get_size(function))
  }

  /// Passes OpenSSL's object to `body`.
  func withPointer<Result>(_ body: (OpaquePointer) -> Result) -> Result { unsafe body(function) }

  /// Passes the hash of `content` to `body` on the stack.
  func withHash<Result>(of content: Span<UInt8>, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
    var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    return unsafe withUnsafeMutableBytes(of: &words) { room in
      let output = unsafe room.bindMemory(to: UInt8.self)
      let isHashed = unsafe content.withUnsafeBytes { content in
        unsafe EVP_Digest(content.baseAddress, content.count, output.baseAddress, nil, function, nil) == 1
      }
      precondition(isHashed, "hashing failed: \(OpenSSLFailure.drain())")
      return unsafe body(UnsafeBufferPointer(rebasing: output[..<count]))
    }
  }
}
