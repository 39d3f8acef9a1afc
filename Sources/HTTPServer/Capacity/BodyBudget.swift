import Synchronization

/// The bytes that the bodies of all requests, what is held to answer them, and all long answers on their way may take together; each class
/// of callers has a part of its own.
///
/// Counted is memory that is really taken, not what a `Content-Length` promises: a promise costs its maker nothing.
final class BodyBudget: Sendable {
  private struct Contents {
    var capacity: PartitionedCapacity
    /// The most that was held since the last ebb.
    var high = 0
  }

  private let contents: Mutex<Contents>

  /// - Parameter percent: how many hundredths each class has for itself.
  init(total: Int, percent: [CallerClass: Int]) {
    contents = Mutex(Contents(capacity: PartitionedCapacity(total: total, percent: percent)))
  }

  /// What is held now.
  var bytes: Int { contents.withLock { $0.capacity.total } }

  /// What it looks like now, for each class.
  var capacity: PartitionedCapacity { contents.withLock { $0.capacity } }

  /// False, and nothing is taken, when it would be too much.
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

  /// Whether so much is, or was, held that its memory is worth handing back.
  var isHigh: Bool { contents.withLock { $0.high >= Self.flood } }

  /// True once after each flood, when nearly all of it has gone.
  func ebbs() -> Bool {
    contents.withLock { contents in
      let bytes = contents.capacity.total
      guard contents.high >= Self.flood, bytes <= Self.flood / 16 else { return false }
      contents.high = bytes
      return true
    }
  }

  /// Less than this the allocator may keep.
  private static let flood = 16 << 20
}

/// One body's part of the memory for bodies; given back when the last reference to it goes.
package final class BodyShare: Sendable {
  /// Nil for a request that no server received, whose memory nobody counts.
  private let budget: BodyBudget?
  private let caller: CallerClass
  private let bytes = Atomic(0)

  init(of budget: BodyBudget?, for caller: CallerClass) {
    self.budget = budget
    self.caller = caller
  }

  deinit { giveBack() }

  /// Gives it back now, once.
  func giveBack() {
    let held = bytes.exchange(0, ordering: .relaxed)
    if held > 0 { budget?.give(held, back: caller) }
  }

  /// Takes more of the budget; false, and nothing is taken, if it has no more for this class of callers.
  package func grow(by more: Int) -> Bool {
    guard budget?.take(more, for: caller) ?? true else { return false }
    bytes.wrappingAdd(more, ordering: .relaxed)
    return true
  }

  /// Takes what it lacks of `all` bytes; false, and nothing is taken, if there is no more for this class of callers.
  func grow(to all: Int) -> Bool {
    let more = all - bytes.load(ordering: .relaxed)
    return more <= 0 || grow(by: more)
  }
}

/// A body as it comes in, part by part.
struct IncomingBody {
  enum Outcome { case taken, tooLong, overBudget }

  private(set) var bytes: [UInt8] = []
  let share: BodyShare
  private let limit: Int
  /// More than is expected is not reserved.
  private let expected: Int
  private var reserved = 0

  /// `promised` is the length that the client says it has; nothing is reserved for it until something has come.
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
