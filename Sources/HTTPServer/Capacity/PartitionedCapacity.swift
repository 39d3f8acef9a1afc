/// A number of slots or bytes, with a reserved part for each class of callers.
///
/// The unreserved part is for all callers. A class uses its own part before the common one.
package struct PartitionedCapacity: Sendable {
  private let reserved: PerCallerClass<Int>
  private let common: Int
  private var used = PerCallerClass { _ in 0 }
  private var borrowed = 0
  package private(set) var total = 0

  /// Creates a capacity of `total`, which grows if the parts exceed it.
  package init(total: Int, reserved: [CallerClass: Int]) {
    self.reserved = PerCallerClass { reserved[$0, default: 0] }
    common = max(0, total - reserved.values.reduce(0, +))
  }

  /// Creates a capacity of `total` with a reserved percentage for each class.
  init(total: Int, percent: [CallerClass: Int]) {
    self.init(total: total, reserved: percent.mapValues { total / 100 * $0 + total % 100 * $0 / 100 })
  }

  /// Returns false, without taking any, if the class's part and the common one have less left.
  package mutating func take(_ amount: Int, for caller: CallerClass) -> Bool {
    let now = used[caller] + amount
    let more = beyondItsPart(now, caller) - beyondItsPart(used[caller], caller)
    guard borrowed + more <= common else { return false }
    borrowed += more
    used[caller] = now
    total += amount
    return true
  }

  package mutating func give(_ amount: Int, back caller: CallerClass) {
    let now = max(0, used[caller] - amount)
    borrowed -= beyondItsPart(used[caller], caller) - beyondItsPart(now, caller)
    total -= used[caller] - now
    used[caller] = now
  }

  package func used(by caller: CallerClass) -> Int { used[caller] }

  /// Returns the use of a class as a fraction, from 0 to 1, of all that it could have now.
  package func fullness(for caller: CallerClass) -> Double {
    let others = borrowed - beyondItsPart(used[caller], caller)
    let most = reserved[caller] + common - others
    return most > 0 ? Double(used[caller]) / Double(most) : 1
  }

  private func beyondItsPart(_ amount: Int, _ caller: CallerClass) -> Int { max(0, amount - reserved[caller]) }
}
