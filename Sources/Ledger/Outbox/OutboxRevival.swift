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

  /// Has messages sent whose rows ended without the proof that there is now.
  ///
  /// A stranger who knows a V1 notification can send a copy before Apple does, without its password. Whatever the back end
  /// made of that copy, it has to hear Apple's. The same body, which was delivered, is not sent again.
  static func revive(
    _ messages: [Outgoing], _ roads: Roads, _ bodies: BodyVault, in session: borrowing Session
  ) throws(DatabaseError) {
    let messages = messages.filter { $0.proof != .unproven }
    let copies = try QuarantineTable.copies(
      of: messages.compactMap { if case .toCompare(let message) = $0.earlier { message } else { nil } }, bodies,
      in: session)
    for outgoing in messages {
      let (isSame, isAccepted): (Bool, Bool)
      switch outgoing.earlier {
      case .none: continue
      case .same: (isSame, isAccepted) = (true, false)
      case .other: (isSame, isAccepted) = (false, false)
      case .toCompare:
        guard let copy = copies[outgoing.message] else { continue }
        (isSame, isAccepted) = (copy.isSame, true)
      }
      try revive(outgoing, isSame: isSame, isAccepted: isAccepted, roads, in: session)
    }
  }

  /// - Parameters:
  ///   - isSame: whether the body is the one that was forwarded.
  ///   - isAccepted: whether the message is accepted now: then also what was given up with a proof is sent.
  private static func revive(
    _ outgoing: Outgoing, isSame: Bool, isAccepted: Bool, _ roads: Roads, in session: borrowing Session
  ) throws(DatabaseError) {
    guard let destinations = roads.destinations[outgoing.addressee.scope], !destinations.isEmpty else { return }
    let start = outgoing.addressee.at
    let (dead, delivered, unproven) = (State.dead.rawValue, State.delivered.rawValue, ProofClass.unproven.rawValue)
    _ = try session.execute(
      """
      UPDATE outbox FORCE INDEX (message)
      SET state = \(State.waiting.rawValue), readiness = \(Readiness.ready.rawValue), class = \(outgoing.proof.rawValue),
        size = \(outgoing.size), attempts = 0, held = 0, owner = NULL, error = NULL, settled_at = NULL,
        created_at = \(start), due_at = \(start), expires_at = \(start + age)
      WHERE message = \(outgoing.message.bytes) AND destination IN (\(list: destinations))
        AND (state = \(dead) AND (\(isAccepted) OR class = \(unproven))
          OR state = \(delivered) AND NOT \(isSame) AND class = \(unproven))
      """)
  }
}
