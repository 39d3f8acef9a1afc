import JSON
import Runtime

/// Reads Apple's answers to verifyReceipt into JSON values, long ones one at a time.
///
/// Values take several times the memory of their text, and the threads that everything else runs on are few.
struct ReceiptAnswerReader: Sendable {
  /// Bytes of an answer that is read where it arrives.
  static let short = 256 << 10
  /// What `Adapter` takes of an answer: customers of many years have more than 1 MiB of rows.
  private static let limits = JSONLimits(bytes: VerifyReceiptRoute.answerLimit, depth: JSONLimits.standard.depth)

  /// Where long ones are read.
  let thread: WorkerThread

  /// The object that an answer is; nil if it is none.
  func object(of body: [UInt8]) async throws(CancellationError) -> JSONObject? {
    guard body.count > Self.short else { return Self.objectNow(body) }
    guard let object = await thread.run({ Self.objectNow(body) }) else { throw CancellationError() }
    return object
  }

  private static func objectNow(_ body: [UInt8]) -> JSONObject? {
    (try? JSONReader.read(body, limits: limits))?.object
  }
}
