/// A secret encrypted with AES-256-GCM, safe to store.
///
/// The bytes are version (1 byte), ID of the master key (8), nonce (12), ciphertext, tag (16).
public struct Sealed: Hashable, Sendable {
  public let keyID: MasterKey.ID
  let nonce: [UInt8]
  let ciphertext: [UInt8]
  let tag: [UInt8]

  static let version: UInt8 = 1
  static let nonceCount = 12
  static let tagCount = 16

  init(keyID: MasterKey.ID, nonce: [UInt8], ciphertext: [UInt8], tag: [UInt8]) {
    self.keyID = keyID
    self.nonce = nonce
    self.ciphertext = ciphertext
    self.tag = tag
  }

  /// Parses the value of `bytes`, without verifying the seal.
  public init(_ bytes: [UInt8]) throws(SealingError) {
    let overhead = 1 + MasterKey.ID.count + Self.nonceCount + Self.tagCount
    guard bytes.count >= overhead else {
      throw SealingError(.malformed, "\(bytes.count) bytes, a sealed secret has at least \(overhead)")
    }
    guard bytes[0] == Self.version else {
      throw SealingError(.malformed, "version \(bytes[0]) of the format, this build knows \(Self.version)")
    }
    var rest = bytes.dropFirst()
    keyID = MasterKey.ID(bytes: Array(rest.prefix(MasterKey.ID.count)))
    rest = rest.dropFirst(MasterKey.ID.count)
    nonce = Array(rest.prefix(Self.nonceCount))
    rest = rest.dropFirst(Self.nonceCount)
    ciphertext = Array(rest.dropLast(Self.tagCount))
    tag = Array(rest.suffix(Self.tagCount))
  }

  public var bytes: [UInt8] { [Self.version] + keyID.bytes + nonce + ciphertext + tag }
}
