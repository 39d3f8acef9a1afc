import Synchronization

/// The bytes that all requests' bodies together may hold.
///
/// Counted is memory that is really taken, not what a `Content-Length` promises: a promise costs its maker nothing.
final class BodyBudget: Sendable {
  private let limit: Int
  private let held = Atomic(0)
  /// The most that was held since the last ebb.
  private let high = Atomic(0)

  init(limit: Int) { self.limit = limit }

  /// What is held now.
  var bytes: Int { held.load(ordering: .relaxed) }

  /// False, and nothing is taken, when it would be too much.
  fileprivate func take(_ bytes: Int) -> Bool {
    let now = held.wrappingAdd(bytes, ordering: .relaxed).newValue
    guard now <= limit else {
      give(bytes)
      return false
    }
    high.max(now, ordering: .relaxed)
    return true
  }

  /// Whether so much is, or was, held that its memory is worth handing back.
  var isHigh: Bool { high.load(ordering: .relaxed) >= Self.flood }

  /// True once after each flood, when nearly all of it has gone.
  func ebbs() -> Bool {
    guard isHigh, bytes <= Self.flood / 16 else { return false }
    high.store(bytes, ordering: .relaxed)
    return true
  }

  /// Less than this the allocator may keep.
  private static let flood = 16 << 20

  fileprivate func give(_ bytes: Int) { held.wrappingSubtract(bytes, ordering: .relaxed) }
}

/// One body's part of the budget; given back when the last who can reach the body lets go of it.
final class BodyShare: Sendable {
  private let budget: BodyBudget
  private let bytes = Atomic(0)

  init(of budget: BodyBudget) { self.budget = budget }

  deinit { budget.give(bytes.load(ordering: .relaxed)) }

  fileprivate func grow(by more: Int) -> Bool {
    guard budget.take(more) else { return false }
    bytes.wrappingAdd(more, ordering: .relaxed)
    return true
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
  init(limit: Int, promised: Int?, budget: BodyBudget) {
    self.limit = limit
    expected = min(limit, promised ?? limit)
    share = BodyShare(of: budget)
  }

  mutating func append(_ part: UnsafeBufferPointer<UInt8>) -> Outcome {
    let needed = bytes.count + part.count
    guard needed <= limit else { return .tooLong }
    if needed > reserved {
      let room = max(needed, min(expected, max(2 * reserved, Self.first)))
      guard share.grow(by: room - reserved) else { return .overBudget }
      reserved = room
      bytes.reserveCapacity(room)
    }
    unsafe bytes.append(contentsOf: part)
    return .taken
  }

  /// Bytes reserved with a body's first part, at most, beyond what that part needs: most bodies are smaller.
  private static let first = 16 << 10
}
