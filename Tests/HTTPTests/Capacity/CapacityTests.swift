@testable import HTTPServer

@Suite struct `A capacity divided among callers` {
  private func capacity() -> PartitionedCapacity {
    PartitionedCapacity(total: 100, reserved: [.apple: 50, .known: 20])
  }

  @Test func `keeps each class's part from the others`() {
    var capacity = capacity()
    func take(_ amount: Int, for caller: CallerClass) -> Bool { capacity.take(amount, for: caller) }
    #expect(take(30, for: .anonymous))
    #expect(!take(1, for: .anonymous))
    #expect(take(50, for: .apple))
    #expect(take(20, for: .known))
    for caller in CallerClass.allCases { #expect(!take(1, for: caller)) }
  }

  @Test func `lends what is reserved for nobody to who comes first, and takes it back`() {
    var capacity = capacity()
    func take(_ amount: Int, for caller: CallerClass) -> Bool { capacity.take(amount, for: caller) }
    #expect(take(80, for: .apple))
    #expect(!take(1, for: .anonymous))
    #expect(take(20, for: .known))
    capacity.give(10, back: .apple)
    #expect(take(10, for: .anonymous))
    #expect(!take(1, for: .apple))
    #expect(capacity.used(by: .apple) == 70)
  }

  @Test func `takes nothing when it refuses`() {
    var capacity = capacity()
    func take(_ amount: Int, for caller: CallerClass) -> Bool { capacity.take(amount, for: caller) }
    #expect(!take(31, for: .anonymous))
    #expect(capacity.used(by: .anonymous) == 0)
    #expect(take(30, for: .anonymous))
  }

  @Test func `says how full it is for each class`() {
    var capacity = capacity()
    func take(_ amount: Int, for caller: CallerClass) -> Bool { capacity.take(amount, for: caller) }
    #expect(take(24, for: .anonymous))
    #expect(capacity.fullness(for: .anonymous) == 0.8)
    #expect(capacity.fullness(for: .apple) == 0)
    #expect(take(56, for: .apple))
    #expect(capacity.fullness(for: .apple) == 1)
    #expect(capacity.fullness(for: .anonymous) == 1)
  }
}

@Suite struct `A rate for each address` {
  private let start = Deadline(milliseconds: 1_000_000)

  private func address(_ last: Int) -> PeerAddress {
    PeerAddress(bytes: [10, 0, UInt8(last >> 8), UInt8(last & 0xFF)], port: 1)
  }

  @Test func `allows a burst, and then fills slowly`() {
    var rates = AddressRateTable(Rate(burst: 3, perSecond: 2), at: start)
    func take(_ peer: PeerAddress, at now: Deadline) -> Bool { rates.take(peer, at: now) }
    for _ in 0..<3 { #expect(take(address(1), at: start)) }
    #expect(!take(address(1), at: start))
    #expect(!take(address(1), at: start + .milliseconds(499)))
    #expect(take(address(1), at: start + .milliseconds(500)))
    #expect(!take(address(1), at: start + .milliseconds(500)))
    // Never more than a burst, however long nothing came, and whichever way the clock goes.
    for _ in 0..<3 { #expect(take(address(1), at: start + .hours(48))) }
    #expect(!take(address(1), at: start))
    #expect(!take(address(1), at: start + .hours(48)))
  }

  @Test func `is that of a /64 for IPv6 and of nobody else`() {
    var rates = AddressRateTable(Rate(burst: 1, perSecond: 1), at: start)
    func take(_ peer: PeerAddress, at now: Deadline) -> Bool { rates.take(peer, at: now) }
    let prefix: [UInt8] = [0x20, 0x01, 0x0D, 0xB8, 0, 0, 0, 1]
    #expect(take(PeerAddress(bytes: prefix + [0, 0, 0, 0, 0, 0, 0, 1], port: 1), at: start))
    #expect(!take(PeerAddress(bytes: prefix + [9, 9, 9, 9, 9, 9, 9, 9], port: 2), at: start))
    #expect(take(PeerAddress(bytes: prefix.dropLast() + [2, 0, 0, 0, 0, 0, 0, 0, 1], port: 1), at: start))
    #expect(take(address(1), at: start))
  }

  @Test func `keeps a bounded number of addresses, and those it knows keep theirs`() {
    var rates = AddressRateTable(Rate(burst: 2, perSecond: 1), most: 10, at: start)
    func take(_ peer: PeerAddress, at now: Deadline) -> Bool { rates.take(peer, at: now) }
    for n in 0..<10 { #expect(take(address(n), at: start)) }
    #expect(take(address(10), at: start))
    #expect(take(address(11), at: start))
    #expect(!take(address(12), at: start), "the crowd has one bucket")
    #expect(take(address(0), at: start))
    #expect(rates.count == 10)
    // Address 0 has taken two, the others one: after a second those are full again and make room.
    #expect(take(address(13), at: start + .seconds(1)))
    #expect(rates.count == 2)
  }
}
