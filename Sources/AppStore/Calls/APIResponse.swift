public import JSON
public import Time

/// What Apple answered to a call.
public struct APIResponse<Answer: Sendable>: Sendable {
  public let answer: Answer
  /// The answer as Apple gave it; nil where it is nothing.
  ///
  /// `Adapter.evidence` reads `body`.
  public let json: JSONObject?
  public let body: [UInt8]
  public let environment: APIEnvironment
  /// The answer's Date header, to the second: Apple's clock.
  public let serverDate: Timestamp?
  /// Our clock when it was there.
  public let receivedAt: Timestamp
  /// How often it was asked until it was answered.
  public let attempts: Int
}
