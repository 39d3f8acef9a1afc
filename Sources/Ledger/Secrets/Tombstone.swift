/// What stays in the inbox of a message in which nothing can be read since a secret was taken out of it.
///
/// A rebuild leaves it out and counts it, and it is not forwarded. No message that is accepted begins as it does, since
/// that is neither JSON nor a JWS nor a receipt.
package enum Tombstone {
  private static let head = Array("unreadable since a secret was taken out: ".utf8)

  /// The body to keep, with what is left of the message, for people.
  package static func body(with remains: [UInt8]) -> [UInt8] { head + remains }

  /// What is left of a message in a tombstone; nil for every other body.
  package static func remains(in body: [UInt8]) -> [UInt8]? {
    body.starts(with: head) ? Array(body.dropFirst(head.count)) : nil
  }
}
