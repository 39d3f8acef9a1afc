import Synchronization

/// The numbers of open connections: in all, of each class of callers, and from each address.
final class ConnectionCount: Sendable {
  private struct Contents {
    var capacity: PartitionedCapacity
    var perAddress: [[UInt8]: Int] = [:]
    var rates: AddressRateTable?
  }

  private let contents: Mutex<Contents>
  private let classify: @Sendable (PeerAddress) -> CallerClass
  private let perAddress: Int?

  init(_ configuration: HTTPServerConfiguration) {
    let limits = configuration.limits
    classify = configuration.classify
    perAddress = limits.connectionsPerAddress
    contents = Mutex(
      Contents(
        capacity: PartitionedCapacity(total: limits.connections, percent: limits.reservedPercent),
        rates: limits.connectionRate.map { AddressRateTable($0, at: .now()) }))
  }

  var open: Int { contents.withLock { $0.capacity.total } }

  var capacity: PartitionedCapacity { contents.withLock { $0.capacity } }

  /// Counts one more connection, or throws the limit that forbids it; a `ConnectionSlot` releases it.
  ///
  /// A rejection by an address's own limit uses nothing of its class. Apple and the operator's own back ends may come
  /// from one address each, so those limits are for other callers.
  fileprivate func take(_ peer: PeerAddress) throws(HTTPRejection) -> CallerClass {
    let caller = classify(peer)
    let refusal: HTTPRejection? = contents.withLock { contents in
      if caller == .anonymous {
        if let perAddress, contents.perAddress[peer.site, default: 0] >= perAddress { return .tooManyFromAddress }
        if contents.rates?.take(peer, at: .now()) == false { return .tooFastFromAddress }
      }
      guard contents.capacity.take(1, for: caller) else { return .tooManyConnections }
      if caller == .anonymous, perAddress != nil { contents.perAddress[peer.site, default: 0] += 1 }
      return nil
    }
    if let refusal { throw refusal }
    return caller
  }

  /// Counts a connection for another class from now on; false, without a change, if that is full.
  fileprivate func move(_ from: CallerClass, _ to: CallerClass) -> Bool {
    contents.withLock { contents in
      // Released first, so that the borrowed part is free for the other class.
      contents.capacity.give(1, back: from)
      if contents.capacity.take(1, for: to) { return true }
      _ = contents.capacity.take(1, for: from)
      return false
    }
  }

  /// - Parameter origin: the class at its arrival.
  fileprivate func give(back peer: PeerAddress, _ caller: CallerClass, from origin: CallerClass) {
    contents.withLock { contents in
      contents.capacity.give(1, back: caller)
      guard origin == .anonymous, perAddress != nil else { return }
      let left = contents.perAddress[peer.site, default: 1] - 1
      contents.perAddress[peer.site] = left > 0 ? left : nil
    }
  }
}

/// One connection's part of the count, released with its one owner.
struct ConnectionSlot: ~Copyable, Sendable {
  let origin: CallerClass
  private(set) var caller: CallerClass
  private let count: ConnectionCount
  private let peer: PeerAddress

  /// Takes a slot, or throws the limit that forbids it.
  init(_ peer: PeerAddress, of count: ConnectionCount) throws(HTTPRejection) {
    origin = try count.take(peer)
    caller = origin
    self.count = count
    self.peer = peer
  }

  deinit { count.give(back: peer, caller, from: origin) }

  /// Counts the connection for `other`; false, without a change, if that class is full.
  mutating func move(to other: CallerClass) -> Bool {
    guard other != caller else { return true }
    guard count.move(caller, other) else { return false }
    caller = other
    return true
  }
}
