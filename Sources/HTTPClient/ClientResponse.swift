/// What a server answered, whatever its status.
package struct ClientResponse: Sendable {
  package enum Version: String, Sendable { case http1_0, http1_1, http2, other }

  package let status: Int
  package let headers: ClientHeaders
  package let body: [UInt8]
  package let version: Version
  package let timing: ClientTiming
}

/// A response's header fields in the order they came, looked up without regard to case.
package struct ClientHeaders: Sendable {
  package let fields: [(name: String, value: String)]

  /// The value of the first field called `name`.
  package subscript(_ name: String) -> String? {
    fields.first { Self.same($0.name, name) }?.value
  }

  /// The values of all fields called `name`, in order.
  package func all(_ name: String) -> [String] { fields.filter { Self.same($0.name, name) }.map(\.value) }

  private static func same(_ a: String, _ b: String) -> Bool {
    a.utf8.count == b.utf8.count && zip(a.utf8, b.utf8).allSatisfy { lowercase($0) == lowercase($1) }
  }

  private static func lowercase(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }
}

/// Where a transfer's time went, in microseconds since its start; 0 for what a kept connection did not need.
package struct ClientTiming: Sendable {
  package let resolved: Int
  package let connected: Int
  package let secured: Int
  package let firstByte: Int
  package let total: Int
  /// Whether the request went out on a connection that was already there.
  package let reusedConnection: Bool
}
