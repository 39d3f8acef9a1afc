package struct QuarantineUsage: Hashable, Sendable {
  package var messages = 0
  package var bytes = 0

  package init(messages: Int = 0, bytes: Int = 0) {
    self.messages = messages
    self.bytes = bytes
  }

  func isBelow(_ quota: QuarantineUsage) -> Bool { messages < quota.messages && bytes < quota.bytes }

  static func + (a: Self, b: Self) -> Self { Self(messages: a.messages + b.messages, bytes: a.bytes + b.bytes) }

  mutating func add(_ size: Int) {
    messages += 1
    bytes += size
  }
}
