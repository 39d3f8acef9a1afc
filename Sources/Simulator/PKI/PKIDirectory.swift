import Glibc
import Signing

/// Certificates and keys in files for a developer's own machine: DER, and PEM that only the owner can read.
package struct PKIDirectory: Sendable {
  package let path: String

  package init(path: String) { self.path = path }

  private static let names = ["root", "intermediate", "leaf"]
  private static let receiptNames = names.map { "receipt-\($0)" } + ["transaction-signer"]
  private static let sizeLimit = 64 << 10

  /// The reason why a file cannot be read or written, with the system's error.
  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  package var exists: Bool { unsafe access("\(path)/leaf.key", F_OK) == 0 }

  /// Writes every file again.
  ///
  /// Creates a missing directory for its owner only.
  package func save(_ pki: ApplePKI) throws {
    try save(Self.names, [pki.root, pki.intermediate, pki.leaf])
  }

  package func load() throws -> ApplePKI {
    let parts = try Self.names.map { try loadPart($0) }
    return ApplePKI(root: parts[0], intermediate: parts[1], leaf: parts[2])
  }

  package func save(_ pki: ReceiptPKI) throws {
    try save(Self.receiptNames, [pki.root, pki.intermediate, pki.leaf, pki.transactionSigner])
  }

  package func loadReceiptPKI() throws -> ReceiptPKI {
    let parts = try Self.receiptNames.map { try loadPart($0) }
    return ReceiptPKI(
      root: parts[0], intermediate: parts[1], leaf: parts[2], transactionSigner: parts[3],
      certificates: [parts[2], parts[1], parts[0]].map(\.certificate.der))
  }

  private func save(_ names: [String], _ parts: [CertificateAuthority]) throws {
    guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else { throw failure("make", path) }
    for (name, part) in zip(names, parts) {
      try write(part.certificate.der, to: "\(name).der", mode: 0o644)
      try write(part.key.pem(), to: "\(name).key", mode: 0o600)
    }
  }

  private func loadPart(_ name: String) throws -> CertificateAuthority {
    CertificateAuthority(
      certificate: try Certificate(der: read("\(name).der")), key: try PrivateKey(pem: read("\(name).key")))
  }

  /// Replaces a small file of this name in the directory as a whole.
  package func save(_ bytes: [UInt8], as name: String) throws {
    guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else { throw failure("make", path) }
    try write(bytes, to: name, mode: 0o600)
  }

  /// Returns the saved bytes of this name; `nil` if missing.
  package func load(_ name: String) throws -> [UInt8]? {
    guard unsafe access("\(path)/\(name)", F_OK) == 0 else { return nil }
    return try read(name)
  }

  /// Writes through a new file, so that the mode is right from the first byte.
  private func write(_ bytes: [UInt8], to name: String, mode: mode_t) throws {
    let (target, new) = ("\(path)/\(name)", "\(path)/.\(name).new")
    _ = unsafe unlink(new)
    let file = unsafe open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
    guard file >= 0 else { throw failure("write", new) }
    let isWritten = unsafe Glibc.write(file, bytes, bytes.count) == bytes.count
    guard close(file) == 0, isWritten, unsafe rename(new, target) == 0 else { throw failure("write", target) }
  }

  private func read(_ name: String) throws -> [UInt8] {
    let file = unsafe open("\(path)/\(name)", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw failure("read", name) }
    defer { _ = close(file) }
    var bytes = [UInt8](repeating: 0, count: Self.sizeLimit)
    let count = unsafe Glibc.read(file, &bytes, bytes.count)
    guard count >= 0 else { throw failure("read", name) }
    return Array(bytes.prefix(count))
  }

  private func failure(_ verb: String, _ name: String) -> Failure {
    unsafe Failure(description: "cannot \(verb) \(name): \(String(cString: strerror(errno)))")
  }
}
