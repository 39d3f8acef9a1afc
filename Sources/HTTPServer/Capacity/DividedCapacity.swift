/// A number of slots or bytes, of which each class of callers has a part that the others cannot take.
///
/// What is reserved for no class belongs to whoever comes first. A class uses its own part before the common one.
package struct DividedCapacity: Sendable {
  private let reserved: [CallerClass: Int]
  /// Reserved for no class.
  private let common: Int
  private var used: [CallerClass: Int] = [:]

  /// Creates a capacity of `total`; parts beyond it make it larger.
  package init(total: Int, reserved: [CallerClass: Int]) {
    self.reserved = reserved
    common = max(0, total - reserved.values.reduce(0, +))
  }

  /// Returns false, and takes nothing, when neither the class's part nor the common one has so much left.
  package mutating func take(_ amount: Int, for caller: CallerClass) -> Bool {
    let others = CallerClass.allCases.filter { $0 != caller }.map(borrowed).reduce(0, +)
    let now = used(by: caller) + amount
    guard max(0, now - part(of: caller)) + others <= common else { return false }
    used[caller] = now
    return true
  }

  package mutating func give(_ amount: Int, back caller: CallerClass) {
    used[caller] = max(0, used(by: caller) - amount)
  }

  package func used(by caller: CallerClass) -> Int { used[caller, default: 0] }

  /// How full it is for a class, from 0 to 1: used out of all that it could have now.
  package func fullness(for caller: CallerClass) -> Double {
    let others = CallerClass.allCases.filter { $0 != caller }.map(borrowed).reduce(0, +)
    let most = part(of: caller) + common - others
    return most > 0 ? Double(used(by: caller)) / Double(most) : 1
  }

  private func part(of caller: CallerClass) -> Int { reserved[caller, default: 0] }
  private func borrowed(by caller: CallerClass) -> Int { max(0, used(by: caller) - part(of: caller)) }
}
