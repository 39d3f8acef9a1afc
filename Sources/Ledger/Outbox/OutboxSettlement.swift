import Database
package import Time

/// What came of a leased delivery, to be noted.
package struct Settlement: Sendable {
  package enum Outcome: Hashable, Sendable {
    /// The destination has it.
    case delivered
    /// Tried again at `retryAt`.
    case failed(error: String, retryAt: Timestamp)
    /// Given up.
    case dead(error: String)
    /// Given back unused, as when the process stops; the attempt does not count.
    case released
  }

  package let delivery: LeasedDelivery
  package let outcome: Outcome

  package init(_ delivery: LeasedDelivery, _ outcome: Outcome) {
    self.delivery = delivery
    self.outcome = outcome
  }
}

extension OutboxTable {
  /// Notes what came of deliveries, and makes the rows ready that are first now.
  ///
  /// What was delivered or given back takes a few statements however many there are; each failure takes one of its own.
  ///
  /// A delivery is noted whoever's lease it was, and however often. Of other outcomes nothing is noted when the lease was
  /// lost. Rows are written before keys are read: a transaction that adds keys to a row holds the row.
  ///
  /// What was sent without proof settles nothing if the message was proven meanwhile: a stranger's copy may have been
  /// sent. Apple's is sent then.
  static func settle(
    _ settlements: [Settlement], at destination: Destination.ID, now: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) -> Freed {
    var (delivered, unproven, released): ([Int64], [LeasedDelivery], [LeasedDelivery]) = ([], [], [])
    var settled: [Int64] = []
    for settlement in settlements.sorted(by: { $0.delivery.sequence < $1.delivery.sequence }) {
      let delivery = settlement.delivery
      switch settlement.outcome {
      case .delivered where delivery.proof == .unproven: unproven.append(delivery)
      case .delivered: delivered.append(delivery.sequence)
      case .released: released.append(delivery)
      case .failed(let error, let due): _ = try note(delivery, .waiting, error, due: due, settledAt: nil, in: session)
      case .dead(let error):
        let isNoted = try note(delivery, .dead, error, due: now, settledAt: now, in: session)
        if delivery.proof == .unproven {
          if !isNoted { released.append(delivery) }
        } else if isNoted {
          settled.append(delivery.sequence)
        }
      }
    }
    try noteDelivered(delivered, at: now, in: session)
    try noteDelivered(unproven.map(\.sequence), only: .unproven, at: now, in: session)
    try giveBack(unproven, at: now, in: session)
    try giveBack(released, at: now, in: session)
    settled += delivered
    return settled.isEmpty ? Freed() : try release(settled, at: destination, now: now, in: session)
  }

  /// - Parameter proof: only rows that are of this class still; nil for all.
  private static func noteDelivered(
    _ sequences: [Int64], only proof: TrustLevel? = nil, at now: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) {
    let condition: SQL = proof.map { "AND class = \($0.rawValue)" } ?? ""
    for part in sequences.parts() {
      _ = try session.execute(
        """
        UPDATE outbox FORCE INDEX (PRIMARY)
        SET state = \(State.delivered.rawValue), settled_at = \(now), error = NULL, owner = NULL
        WHERE sequence IN (\(list: part)) \(condition)
        """)
      // Unproven rows have none.
      if proof == .unproven { continue }
      _ = try session.execute(
        """
        DELETE m FROM \(.listed(part)) STRAIGHT_JOIN outbox_members m FORCE INDEX (sequence)
          ON m.sequence = listed.sequence
        """)
    }
  }

  /// False when the lease was lost.
  private static func note(
    _ delivery: LeasedDelivery, _ state: State, _ error: String, due: Timestamp, settledAt: Timestamp?,
    in session: borrowing Session
  ) throws(DatabaseError) -> Bool {
    try session.execute(
      """
      UPDATE outbox FORCE INDEX (PRIMARY) SET state = \(state.rawValue), due_at = \(due), error = \(error.cut(to: 255)),
        settled_at = \(settledAt), owner = NULL
      WHERE sequence = \(delivery.sequence) AND owner = \(delivery.owner) AND state = 0
        AND (\(state != .dead || delivery.proof != .unproven) OR class = \(TrustLevel.unproven.rawValue))
      """
    ).affectedRows == 1
  }

  private static func giveBack(
    _ deliveries: [LeasedDelivery], at now: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) {
    for (owner, deliveries) in Dictionary(grouping: deliveries, by: \.owner) {
      for part in deliveries.map(\.sequence).parts() {
        _ = try session.execute(
          """
          UPDATE outbox FORCE INDEX (PRIMARY) SET due_at = \(now), owner = NULL, attempts = attempts - 1
          WHERE sequence IN (\(list: part)) AND owner = \(owner) AND state = 0
          """)
      }
    }
  }
}
