/// A customer of one app of a world: a member of a household.
package struct CustomerID: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The household's number from 0, in order of arrival.
  package let household: Int
  /// The number from 0 within the household.
  package let member: Int

  package init(household: Int, member: Int = 0) {
    self.household = household
    self.member = member
  }

  package static func < (a: Self, b: Self) -> Bool {
    (a.household, a.member) < (b.household, b.member)
  }

  /// The text for commands and logs, such as `12.0`.
  package var description: String { "\(household).\(member)" }

  package init?(_ description: String) {
    let parts = description.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, let household = Int(parts[0]), let member = Int(parts[1]), household >= 0, member >= 0
    else { return nil }
    self.init(household: household, member: member)
  }
}
