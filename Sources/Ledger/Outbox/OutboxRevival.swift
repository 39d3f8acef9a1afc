import Database
import Signing
import Time

extension OutboxTable {
  /// Moves waiting rows of these messages to the lane of their better proof.
  ///
  /// A row that has ended keeps its class, which tells `revive` by what proof it was sent. (0 is not known yet.)
  static func raise(_ messages: [Outgoing], _ roads: Roads, in session: borrowing Session) throws(DatabaseError) {
    for outgoing in messages where outgoing.proof != .unproven {
      guard let destinations = roads.destinations[outgoing.addressee.scope], !destinations.isEmpty else { continue }
      _ = try session.execute(
        """
        UPDATE outbox FORCE INDEX (message) SET class = LEAST(class, \(outgoing.proof.rawValue))
        WHERE message = \(outgoing.message.bytes) AND destination IN (\(list: destinations))
          AND state = \(State.waiting.rawValue)
        """)
    }
  }

  /// Has messages sent that were given up without the proof that there is now; what the back end took is not sent again.
  static func revive(_ messages: [Outgoing], _ roads: Roads, in session: borrowing Session) throws(DatabaseError) {
    for outgoing in messages where outgoing.proof != .unproven {
      guard let destinations = roads.destinations[outgoing.addressee.scope], !destinations.isEmpty else { continue }
      let start = outgoing.addressee.at
      _ = try session.execute(
        """
        UPDATE outbox FORCE INDEX (message)
        SET state = \(State.waiting.rawValue), readiness = \(Readiness.ready.rawValue), class = \(outgoing.proof.rawValue),
          size = \(outgoing.size), attempts = 0, held = 0, owner = NULL, error = NULL, settled_at = NULL,
          created_at = \(start), due_at = \(start), expires_at = \(start + age)
        WHERE message = \(outgoing.message.bytes) AND destination IN (\(list: destinations))
          AND state = \(State.dead.rawValue) AND (\(outgoing.isAccepted) OR class = \(TrustLevel.unproven.rawValue))
        """)
    }
  }
}
