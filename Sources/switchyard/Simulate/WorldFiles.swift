import JSON
import Runtime
import Signing
import Simulator
import Time

/// A simulated world in files: receipts, notifications, the truth about each customer, and what to trust.
struct WorldFiles: Sendable {
  /// Customers made at once.
  private static let block = 32

  private let world: World
  private let pki: ApplePKI
  private let receiptPKI: ReceiptPKI
  private let directory: String
  private let withNotifications: Bool

  /// - Parameter directory: made if it is not there; files of these names in it are replaced.
  init(_ world: World, in directory: String, withNotifications: Bool) throws {
    self.world = world
    self.withNotifications = withNotifications
    self.directory = directory.hasSuffix("/") && directory.count > 1 ? String(directory.dropLast()) : directory
    guard FileFacts.makeDirectory(self.directory) else { throw FileError(directory, reason: "cannot be made") }
    pki = try ApplePKI.generate(at: World.asOf)
    receiptPKI = try ReceiptPKI.generate(at: World.asOf)
  }

  /// The files' lines about some customers.
  private struct Lines: Sendable {
    var receipts: [UInt8] = []
    var notifications: [UInt8] = []
    var truth: [UInt8] = []
    var count = 0
  }

  /// How much was written.
  struct Written: Sendable {
    var customers = 0
    var notifications = 0
  }

  /// Writes everything about `count` customers, or about the first of them when the task is cancelled.
  @concurrent func write(customers count: Int) async throws -> Written {
    let receipts = try file("receipts.csv")
    let notifications = try file("notifications.jsonl")
    let truth = try file("truth.jsonl")
    try file("world.json").write(description(customers: count).encoded() + [0x0A])
    // The same roots as files, which is what --root takes.
    try file("root.der").write(pki.root.certificate.der)
    try file("receipt-root.der").write(receiptPKI.root.certificate.der)
    try receipts.write(Array("app,user_id,receipt\n".utf8))
    let signer = try PayloadSigner(pki)
    let blocks = (count + Self.block - 1) / Self.block
    var told = Written()
    try await withThrowingTaskGroup(of: (Int, Lines).self) { group in
      var (given, written) = (0, 0)
      var waiting: [Int: Lines] = [:]
      while written < blocks, !Task.isCancelled {
        while given < blocks, given - written < 4 * Processors.count {
          let number = given
          group.addTask {
            let customers = number * Self.block..<min(count, (number + 1) * Self.block)
            return (number, try lines(customers, signer))
          }
          given += 1
        }
        do {
          guard let (number, lines) = try await group.next() else { break }
          waiting[number] = lines
        } catch is CancellationError { break }
        while let next = waiting.removeValue(forKey: written) {
          try receipts.write(next.receipts)
          try notifications.write(next.notifications)
          try truth.write(next.truth)
          told.notifications += next.count
          written += 1
          told.customers = min(count, written * Self.block)
        }
      }
    }
    return told
  }

  private func file(_ name: String) throws(FileError) -> OutputFile { try OutputFile("\(directory)/\(name)") }

  private func lines(_ customers: Range<Int>, _ signer: PayloadSigner) throws -> Lines {
    var lines = Lines()
    for number in customers {
      try Task.checkCancellation()
      let customer = world.customer(number)
      lines.receipts += Array("\(customer.app.bundleID),\(customer.userID),".utf8)
      lines.receipts += try customer.receipt(signedBy: receiptPKI) + [0x0A]
      lines.truth += customer.truth.encoded() + [0x0A]
      guard withNotifications else { continue }
      for draft in customer.notifications { lines.notifications += try draft.signed(by: signer).body + [0x0A] }
      lines.count += customer.notifications.count
    }
    return lines
  }

  private func description(customers: Int) -> JSONObject {
    func base64(_ certificate: CertificateAuthority) -> JSONValue {
      .string(String(decoding: Base64.standard.encode(certificate.certificate.der), as: UTF8.self))
    }
    let apps = world.apps.enumerated().map { index, app -> JSONValue in
      [
        "bundleId": .string(app.bundleID), "appAppleId": .integer(app.appAppleID),
        "sharedSecret": .string(world.sharedSecret(ofApp: index)), "environment": .string(app.environment.rawValue),
      ]
    }
    return [
      "version": 1, "seed": .integer(Int64(bitPattern: world.seed)), "customers": .integer(Int64(customers)),
      "asOf": .integer(World.asOf.sinceEpoch), "rootDER": base64(pki.root),
      "receiptRootDER": base64(receiptPKI.root), "apps": .array(apps),
    ]
  }
}
