import Time

struct NotificationDelivery: Sendable {
  let shipment: Int
  let destination: Destination
  let body: [UInt8]
  let date: Timestamp
  /// Extra duplicate posts after the first.
  let copies: Int
}
