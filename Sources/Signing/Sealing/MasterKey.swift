import COpenSSL

/// The key that seals an installation's secrets.
///
/// Separate keys for encryption and for codes are derived from it, so that neither use can help attack the other.
public final class MasterKey: Sendable {
  /// The identity of a master key without information about it: the first 8 bytes of an HMAC under the key.
  public struct ID: Hashable, Sendable, CustomStringConvertible {
    let bytes: [UInt8]
    static let count = 8

    public var description: String { Hexadecimal.encode(bytes) }
  }

  public let id: ID
  private let material: SecretBytes
  private let encryptionKey: SecretBytes
  private let codeKey: SecretBytes

  package static let count = 32

  /// Reads the contents of a key file: 32 raw bytes, or 64 hexadecimal digits with or without a line end.
  public convenience init(file bytes: [UInt8]) throws(SealingError) {
    var key = bytes
    defer { key.wipe() }
    if bytes.count != Self.count {
      let digits = bytes.reversed().drop { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
      guard digits.count == Self.count * 2, let decoded = Hexadecimal.decode(digits.reversed()) else {
        throw SealingError(.malformedKey, "a master key is 32 bytes or 64 hexadecimal digits, not \(bytes.count) bytes")
      }
      key = decoded
    }
    self.init(material: key)
  }

  private init(material: [UInt8]) {
    self.material = SecretBytes(material)
    func derived(_ purpose: String) -> [UInt8] { Digest.hmac(Array("switchyard \(purpose)".utf8), key: material).bytes }
    id = ID(bytes: Array(derived("key id").prefix(ID.count)))
    encryptionKey = SecretBytes(derived("sealing"))
    codeKey = SecretBytes(derived("authentication"))
  }

  public static func generate() -> MasterKey {
    var material = [UInt8].random(count: count)
    defer { material.wipe() }
    return MasterKey(material: material)
  }

  /// The key as 64 hexadecimal digits, for a file that only its owner may read.
  public var fileContents: [UInt8] {
    unsafe material.withBytes { bytes in unsafe Array((Hexadecimal.encode(Array(bytes)) + "\n").utf8) }
  }

  /// Encrypts `secret`; it opens only with the same `context`, its storage location, such as `apps/7/p8`.
  public func seal(_ secret: [UInt8], context: String) -> Sealed { seal(secret, context, under: encryptionKey) }

  /// Encrypts mass data under a key of its month, because the random nonces of one key must not repeat.
  ///
  /// - Parameter month: such as `202611`.
  package func seal(_ body: [UInt8], context: String, month: Int64) -> Sealed {
    seal(body, context, under: key(of: month))
  }

  private func seal(_ secret: [UInt8], _ context: String, under key: SecretBytes) -> Sealed {
    let nonce = [UInt8].random(count: Sealed.nonceCount)
    var tag = [UInt8](repeating: 0, count: Sealed.tagCount)
    let ciphertext = unsafe key.withBytes { key in
      unsafe AES256GCM.encrypt(secret, key: key, nonce: nonce, associated: associated(context), tag: &tag)
    }
    return Sealed(keyID: id, nonce: nonce, ciphertext: ciphertext, tag: tag)
  }

  /// Returns the secret; throws under another key, in another context, or after any change.
  public func open(_ sealed: Sealed, context: String) throws(SealingError) -> [UInt8] {
    try open(sealed, context, under: encryptionKey)
  }

  package func open(_ sealed: Sealed, context: String, month: Int64) throws(SealingError) -> [UInt8] {
    try open(sealed, context, under: key(of: month))
  }

  private func open(_ sealed: Sealed, _ context: String, under key: SecretBytes) throws(SealingError) -> [UInt8] {
    guard sealed.keyID == id else {
      throw SealingError(.wrongKey, "sealed under master key \(sealed.keyID), this one is \(id)")
    }
    let secret = unsafe key.withBytes { key in
      unsafe AES256GCM.decrypt(
        sealed.ciphertext, key: key, nonce: sealed.nonce, associated: associated(context), tag: sealed.tag)
    }
    guard let secret else {
      throw SealingError(.altered, "not what was sealed for \(quoted(context)) under master key \(id)")
    }
    return secret
  }

  private func key(of month: Int64) -> SecretBytes {
    unsafe material.withBytes { key in
      unsafe SecretBytes(Digest.hmac(Array("switchyard bodies \(month)".utf8), key: key).bytes)
    }
  }

  /// Returns an HMAC-SHA256 that only the holder of this key can make, for one `purpose`.
  public func code(for bytes: [UInt8], purpose: String) -> Digest {
    // The purpose comes with its length: no two pairs of purpose and bytes are the same message.
    let name = Array(purpose.utf8)
    let length = (0..<8).reversed().map { UInt8(truncatingIfNeeded: name.count >> ($0 * 8)) }
    return unsafe codeKey.withBytes { key in unsafe Digest.hmac(length + name + bytes, key: key) }
  }

  private func associated(_ context: String) -> [UInt8] { [Sealed.version] + id.bytes + Array(context.utf8) }
}

/// The master keys of an installation: one seals, all open, so that one can follow the other without a gap.
public struct Keyring: Sendable {
  public let current: MasterKey
  private let all: [MasterKey.ID: MasterKey]

  public init(current: MasterKey, previous: [MasterKey] = []) {
    self.current = current
    all = Dictionary((previous + [current]).map { ($0.id, $0) }, uniquingKeysWith: { _, last in last })
  }

  /// The keys, current one first.
  public var keys: [MasterKey] {
    [current] + all.values.filter { $0.id != current.id }.sorted { $0.id.description < $1.id.description }
  }

  public func seal(_ secret: [UInt8], context: String) -> Sealed { current.seal(secret, context: context) }

  public func open(_ sealed: Sealed, context: String) throws(SealingError) -> [UInt8] {
    try key(of: sealed).open(sealed, context: context)
  }

  package func seal(_ body: [UInt8], context: String, month: Int64) -> Sealed {
    current.seal(body, context: context, month: month)
  }

  package func open(_ sealed: Sealed, context: String, month: Int64) throws(SealingError) -> [UInt8] {
    try key(of: sealed).open(sealed, context: context, month: month)
  }

  private func key(of sealed: Sealed) throws(SealingError) -> MasterKey {
    if let key = all[sealed.keyID] { return key }
    let known = all.keys.map(\.description).sorted().joined(separator: ", ")
    throw SealingError(.wrongKey, "sealed under master key \(sealed.keyID), here are \(known)")
  }
}
