import Time

/// A notification ready to post.
struct NotificationDelivery: Sendable {
  let shipment: Int
  let destination: Destination
  let body: [UInt8]
  /// The world time of Apple's attempt.
  let date: Timestamp
  /// Extra duplicate posts after the first.
  let copies: Int
}
