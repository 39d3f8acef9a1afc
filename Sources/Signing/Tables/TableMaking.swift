import Dispatch

extension KeyTables {
  package typealias Table = @Sendable (RawSignature, Digest) -> Bool

  package struct KeyTableBuilder: Sendable {
    /// Returns the table of the key at this point; `nil` if impossible.
    let table: @Sendable (_ point: [UInt8]) -> Table?
    let aside: @Sendable (_ work: @escaping @Sendable () -> Void) -> Void

    package init(
      table: @escaping @Sendable (_ point: [UInt8]) -> Table? = Self.byOpenSSL,
      aside: @escaping @Sendable (_ work: @escaping @Sendable () -> Void) -> Void = Self.onOwnQueue
    ) {
      self.table = table
      self.aside = aside
    }

    package static let byOpenSSL: @Sendable (_ point: [UInt8]) -> Table? = { point in
      guard let table = KeyTable(point: point) else { return nil }
      return { signature, digest in table.accepts(signature, of: digest) }
    }

    /// Makes one table at a time: each takes as long as 400 signatures, too long for a request and for the threads that
    /// serve them.
    package static let onOwnQueue: @Sendable (_ work: @escaping @Sendable () -> Void) -> Void = { work in
      queue.async(execute: work)
    }

    private static let queue = DispatchQueue(label: "tables of keys")
  }
}
