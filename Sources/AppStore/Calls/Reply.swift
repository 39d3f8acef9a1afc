package import JSON
package import Time

/// What Apple answered to a call.
package struct Reply<Answer: Sendable>: Sendable {
  package let answer: Answer
  /// The answer as Apple gave it; nil where it is nothing. `Adapter.evidence` reads `body`.
  package let json: JSONObject?
  package let body: [UInt8]
  package let environment: APIEnvironment
  /// The answer's Date header, to the second: Apple's clock.
  package let serverDate: Milliseconds?
  /// Our clock when it was there.
  package let receivedAt: Milliseconds
  /// How often it was asked until it was answered.
  package let attempts: Int
}
