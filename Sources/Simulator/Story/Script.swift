import Signing
import Time

/// The customers' acts and their times, in a world where only Apple acts in addition.
struct Script {
  /// A customer that joins the world with the first step.
  struct Role {
    let name: String
    let app: String
    var storefront = Storefront.unitedStates
    var hasAccountToken = false
    /// The member whose family the customer joins.
    var relative: String?
    let steps: [Step]
  }

  /// An act, made from the IDs of the customer's transactions; `nil` only downloads the app.
  struct Step {
    let date: Interval
    let act: @Sendable ([String]) -> ManualAction?

    init(_ date: Interval, _ act: @escaping @Sendable ([String]) -> ManualAction?) {
      self.date = date
      self.act = act
    }

    init(_ date: Interval, _ act: ManualAction?) { self.init(date) { _ in act } }
  }

  let roles: [Role]

  /// Plays the script for `length` after the world's start.
  ///
  /// - Returns: each customer's ID by name, and the notifications.
  func play(in world: inout AppStoreWorld, for length: Interval) throws -> (
    people: [String: CustomerID], told: [WorldNotification]
  ) {
    var people: [String: CustomerID] = [:]
    let steps = roles.flatMap { role in role.steps.map { (role: role, step: $0) } }
    let start = world.now
    // Steps at the same time follow the order of the roles.
    for (_, (role, step)) in steps.enumerated().sorted(by: {
      ($0.element.step.date, $0.offset) < ($1.element.step.date, $1.offset)
    }) {
      world.advance(to: start + step.date)
      let person = try people[role.name] ?? enrol(role, in: &world, people)
      people[role.name] = person
      let ids = world.transactions(of: person).map(\.transaction.transactionID)
      if let act = step.act(ids) { try world.act(act, on: person) }
    }
    world.advance(to: start + length)
    return (people, world.drainNotifications())
  }

  private func enrol(
    _ role: Role, in world: inout AppStoreWorld, _ people: [String: CustomerID]
  ) throws -> CustomerID {
    try world.enrol(
      in: role.app, environment: .sandbox, storefront: role.storefront, hasAccountToken: role.hasAccountToken,
      joining: role.relative.flatMap { people[$0] })
  }
}
