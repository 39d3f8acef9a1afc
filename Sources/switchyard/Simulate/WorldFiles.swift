import JSON
import Runtime
import Signing
import Simulator

/// The customers of a world in files: their device receipts, and the truth about them.
///
/// The files are the same for a served world and a generated one.
struct WorldFiles: Sendable {
  private static let block = 32

  struct Lines: Sendable {
    var receipts: [UInt8] = []
    var truth: [UInt8] = []
    var notifications: [UInt8] = []
    var written = Written()

    mutating func add(_ state: CustomerState, receiptsBy pki: ReceiptPKI) throws {
      written.customers += 1
      for line in state.truth { truth += line.encoded() + [0x0A] }
      guard let receipt = DeviceReceipt(of: state) else { return }
      receipts += Array("\(state.app.bundleID),\(state.userID),".utf8)
      receipts += try receipt.encoded(signedBy: pki) + [0x0A]
      written.receipts += 1
    }

    mutating func add(_ notification: WorldNotification, signedBy signer: PayloadSigner) throws {
      guard let draft = notification.v2 else { return }
      notifications += try draft.signed(by: signer).body + [0x0A]
      written.notifications += 1
    }
  }

  struct Written: Sendable {
    var customers = 0
    var receipts = 0
    var notifications = 0

    static func += (sum: inout Self, more: Self) {
      sum.customers += more.customers
      sum.receipts += more.receipts
      sum.notifications += more.notifications
    }
  }

  private let receipts: OutputFile
  private let truth: OutputFile
  private let notifications: OutputFile?

  /// - Parameter directory: must exist; files of these names in it are replaced.
  init(in directory: String, hasNotifications: Bool) throws {
    receipts = try OutputFile("\(directory)/receipts.csv")
    truth = try OutputFile("\(directory)/truth.jsonl")
    notifications = hasNotifications ? try OutputFile("\(directory)/notifications.jsonl") : nil
    try receipts.write(Array("app,user_id,receipt\n".utf8))
  }

  /// Writes the lines of `count` parts in their order, made on all cores; only the first parts if the task is
  /// cancelled.
  @concurrent func write(
    _ count: Int, _ lines: @escaping @Sendable (Int, inout Lines) throws -> Void
  ) async throws -> Written {
    let blocks = (count + Self.block - 1) / Self.block
    var total = Written()
    try await withThrowingTaskGroup(of: (Int, Lines).self) { group in
      var (given, written) = (0, 0)
      var waiting: [Int: Lines] = [:]
      while written < blocks, !Task.isCancelled {
        while given < blocks, given - written < 4 * Processors.count {
          let number = given
          group.addTask {
            var made = Lines()
            for part in number * Self.block..<min(count, (number + 1) * Self.block) {
              try Task.checkCancellation()
              try lines(part, &made)
            }
            return (number, made)
          }
          given += 1
        }
        do {
          guard let (number, lines) = try await group.next() else { break }
          waiting[number] = lines
        } catch is CancellationError { break }
        while let next = waiting.removeValue(forKey: written) {
          try receipts.write(next.receipts)
          try truth.write(next.truth)
          try notifications?.write(next.notifications)
          total += next.written
          written += 1
        }
      }
    }
    return total
  }
}
