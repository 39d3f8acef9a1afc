import JSON
import Runtime

/// Parses Apple's verifyReceipt responses, long ones one at a time.
///
/// Parsed values take several times the memory of their text, and the common threads are few.
struct ReceiptAnswerReader: Sendable {
  /// Bytes of a response that is parsed on arrival.
  static let short = 256 << 10
  /// The limits of `Adapter`: customers of many years have more than 1 MiB of rows.
  private static let limits = JSONLimits(bytes: VerifyReceiptRoute.answerLimit, depth: JSONLimits.standard.depth)

  /// Parses long ones.
  let thread: WorkerThread

  /// Returns the response's object; `nil` if it is not an object.
  func object(of body: [UInt8]) async throws(CancellationError) -> JSONObject? {
    guard body.count > Self.short else { return Self.objectNow(body) }
    guard let object = await thread.run({ Self.objectNow(body) }) else { throw CancellationError() }
    return object
  }

  private static func objectNow(_ body: [UInt8]) -> JSONObject? {
    (try? JSONReader.read(body, limits: limits))?.object
  }
}
