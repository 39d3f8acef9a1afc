import Time

/// A notification that is ready to be posted.
struct NotificationDelivery: Sendable {
  let shipment: Int
  let destination: Destination
  let body: [UInt8]
  /// Of the world: when Apple's attempt is.
  let date: Timestamp
  /// Posts besides the first, which nobody asked for.
  let copies: Int
}
