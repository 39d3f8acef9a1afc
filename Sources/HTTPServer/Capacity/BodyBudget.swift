import Synchronization

/// The total memory of all request bodies, of handlers' data and of long responses in flight; each class of callers has
/// its own part.
///
/// It counts memory in use, not a `Content-Length`, which costs its sender nothing.
final class BodyBudget: Sendable {
  private struct Contents {
    var capacity: PartitionedCapacity
    /// The highest use since the last ebb.
    var high = 0
  }

  private let contents: Mutex<Contents>

  init(total: Int, percent: [CallerClass: Int]) {
    contents = Mutex(Contents(capacity: PartitionedCapacity(total: total, percent: percent)))
  }

  var bytes: Int { contents.withLock { $0.capacity.total } }

  var capacity: PartitionedCapacity { contents.withLock { $0.capacity } }

  fileprivate func take(_ bytes: Int, for caller: CallerClass) -> Bool {
    contents.withLock { contents in
      guard contents.capacity.take(bytes, for: caller) else { return false }
      contents.high = max(contents.high, contents.capacity.total)
      return true
    }
  }

  fileprivate func give(_ bytes: Int, back caller: CallerClass) {
    contents.withLock { $0.capacity.give(bytes, back: caller) }
  }

  /// Whether the use is, or was, high enough to release memory to the system.
  var isHigh: Bool { contents.withLock { $0.high >= Self.flood } }

  /// Returns true once after each flood, when nearly all of it has gone.
  func ebbs() -> Bool {
    contents.withLock { contents in
      let bytes = contents.capacity.total
      guard contents.high >= Self.flood, bytes <= Self.flood / 16 else { return false }
      contents.high = bytes
      return true
    }
  }

  /// The size below which the allocator may keep memory.
  private static let flood = 16 << 20
}

/// One body's part of the memory for bodies, released with its last reference.
package final class BodyShare: Sendable {
  /// `nil` for a request that no server received, whose memory is not counted.
  private let budget: BodyBudget?
  private let caller: CallerClass
  private let bytes = Atomic(0)

  init(of budget: BodyBudget?, for caller: CallerClass) {
    self.budget = budget
    self.caller = caller
  }

  deinit { giveBack() }

  func giveBack() {
    let held = bytes.exchange(0, ordering: .relaxed)
    if held > 0 { budget?.give(held, back: caller) }
  }

  /// Takes more of the budget; false, without taking any, above the limit of this class of callers.
  package func grow(by more: Int) -> Bool {
    guard budget?.take(more, for: caller) ?? true else { return false }
    bytes.wrappingAdd(more, ordering: .relaxed)
    return true
  }

  /// Takes the rest of `all` bytes; false, without taking any, above the limit of this class of callers.
  func grow(to all: Int) -> Bool {
    let more = all - bytes.load(ordering: .relaxed)
    return more <= 0 || grow(by: more)
  }
}

struct IncomingBody {
  enum Outcome { case taken, tooLong, overBudget }

  private(set) var bytes: [UInt8] = []
  let share: BodyShare
  private let limit: Int
  private let expected: Int
  private var reserved = 0

  /// `promised` is the client's announced length; nothing is reserved for it before the first byte.
  init(limit: Int, promised: Int?, budget: BodyBudget, caller: CallerClass) {
    self.limit = limit
    expected = min(limit, promised ?? limit)
    share = BodyShare(of: budget, for: caller)
  }

  mutating func append(_ part: Span<UInt8>) -> Outcome {
    let needed = bytes.count + part.count
    guard needed <= limit else { return .tooLong }
    if needed > reserved {
      let room = max(needed, min(expected, max(2 * reserved, needed + Self.ahead)))
      guard share.grow(by: room - reserved) else { return .overBudget }
      reserved = room
      bytes.reserveCapacity(room)
    }
    unsafe part.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
    return .taken
  }

  /// Bytes reserved beyond what a part needs, until doubling is more: most bodies are smaller.
  private static let ahead = 16 << 10
}
