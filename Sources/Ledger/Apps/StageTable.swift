package import Database
package import Purchases
package import Rollout
package import Time

package struct StageRecord: Hashable, Sendable {
  package let environment: Environment
  package let stage: Stage
  package let epoch: Int64
  /// The number of changes to the processing of notifications, which commits compare.
  package let recordingEpoch: Int64
  /// The share of customers that Switchyard answers.
  ///
  /// `nil` except in `ramp`.
  package let share: RampPercentage?
  /// The salt of the customers' buckets.
  ///
  /// Empty until the first ramp.
  package let salt: String
  package let changedAt: Timestamp
  /// The time when recording of notifications last started or stopped, before which no evidence counts.
  ///
  /// 0 if it never stopped.
  package let recordingSince: Timestamp
  /// When an operator last accepted IDs that Apple's API does not know, and IDs of canceled bulk migrations.
  package let acceptedUnknownAt: Timestamp?
  package let acceptedCancelledAt: Timestamp?

  package init(
    environment: Environment, stage: Stage, epoch: Int64, recordingEpoch: Int64 = 1, share: RampPercentage? = nil,
    salt: String = "", changedAt: Timestamp = Timestamp(0), recordingSince: Timestamp = Timestamp(0),
    acceptedUnknownAt: Timestamp? = nil, acceptedCancelledAt: Timestamp? = nil
  ) {
    self.recordingEpoch = recordingEpoch
    self.changedAt = changedAt
    self.recordingSince = recordingSince
    (self.acceptedUnknownAt, self.acceptedCancelledAt) = (acceptedUnknownAt, acceptedCancelledAt)
    self.environment = environment
    self.stage = stage
    self.epoch = epoch
    self.share = share
    self.salt = salt
  }

  /// Whether Switchyard still answers every customer that it answered by the earlier record.
  package func answersAll(answeredBy earlier: StageRecord) -> Bool {
    if epoch == earlier.epoch { return true }
    switch stage.answers {
    case .ledger: return true
    case .apple: return false
    case .divided:
      guard earlier.stage.answers == .divided, salt == earlier.salt, let share, let before = earlier.share else {
        return false
      }
      return share.hundredths >= before.hundredths
    }
  }
}

package enum StageTable {
  package static func all(in session: borrowing Session) throws(DatabaseError) -> [AppScope: StageRecord] {
    var flags: [AppScope: StageRecord] = [:]
    for row in try session.query(
      """
      SELECT f.app, f.environment, f.stage, f.epoch, f.ramp_share, f.ramp_salt, f.changed_at, f.recording_since,
        f.accepted_unknown_at, f.accepted_cancelled_at, r.epoch AS recording
      FROM flags f JOIN app_recording r ON r.app = f.app AND r.environment = f.environment
      """)
    {
      guard let stage = Stage(rawValue: try row.text("stage")) else {
        throw DatabaseError(.column, "a stage this build does not know: \(try row.text("stage"))")
      }
      let environment = try Environment(code: row.int("environment"))
      flags[AppScope(app: App.ID(try row.int("app")), environment: environment)] = StageRecord(
        environment: environment, stage: stage, epoch: try row.int64("epoch"),
        recordingEpoch: try row.int64("recording"),
        share: stage == .ramp ? RampPercentage(hundredths: try row.optionalInt("ramp_share") ?? 0) : nil,
        salt: try row.optionalText("ramp_salt") ?? "", changedAt: try row.milliseconds("changed_at"),
        recordingSince: try row.milliseconds("recording_since"),
        acceptedUnknownAt: try row.optionalMilliseconds("accepted_unknown_at"),
        acceptedCancelledAt: try row.optionalMilliseconds("accepted_cancelled_at"))
    }
    return flags
  }

  /// Returns a number that changes with any stage, for frequent polling.
  package static func mark(in session: borrowing Session) throws(DatabaseError) -> Int64 {
    try session.query("SELECT COALESCE(SUM(epoch), 0) + COUNT(*) AS mark FROM flags").first?.int64("mark") ?? 0
  }

  /// Sets the stage and advances the epoch.
  ///
  /// Returns false, without a change, if another process changed the stage first. A change to the processing of
  /// notifications waits for uncommitted writers. A later writer is refused with the old epoch.
  ///
  /// - Parameters:
  ///   - share: for `ramp`.
  ///   - salt: the salt of the buckets. The first one stays, so that a second ramp selects the same customers.
  package static func advance(
    _ scope: AppScope, from flag: StageRecord, to stage: Stage, share: RampPercentage? = nil, salt: String? = nil,
    at now: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) -> Bool {
    let isRoadChanged = flag.stage.notifications != stage.notifications
    let recordingSince = isRoadChanged ? now : flag.recordingSince
    if isRoadChanged {
      // First, since commits lock this row: a kill does not wait for the row of `flags` meanwhile.
      _ = try session.execute(
        "UPDATE app_recording SET epoch = epoch + 1 WHERE \(in: scope)")
    }
    return
      try session.execute(
        """
        UPDATE flags SET stage = \(stage.rawValue), epoch = epoch + 1, changed_at = \(now),
          ramp_share = \(share.map { Int64($0.hundredths) }.sqlValue), ramp_salt = COALESCE(ramp_salt, \(salt.sqlValue)),
          recording_since = \(recordingSince)
        WHERE \(in: scope) AND epoch = \(flag.epoch)
        """
      ).affectedRows == 1
  }

  /// Sets `shadow` if the stage is `shadow` or a later one, for any epoch.
  ///
  /// - Returns: The previous stage with its share, or `nil`, without a change, in an earlier stage.
  package static func stop(
    _ scope: AppScope, at now: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) -> (Stage, RampPercentage?)? {
    let row = try session.query(
      "SELECT stage, ramp_share FROM flags WHERE \(in: scope) FOR UPDATE"
    ).first
    guard let row, let stage = Stage(rawValue: try row.text("stage")), stage >= .shadow else { return nil }
    _ = try session.execute(
      """
      UPDATE flags SET stage = \(Stage.shadow.rawValue), epoch = epoch + 1, changed_at = \(now), ramp_share = NULL
      WHERE \(in: scope)
      """)
    let share = stage == .ramp ? RampPercentage(hundredths: try row.optionalInt("ramp_share") ?? 0) : nil
    return (stage, share)
  }

  package static func accept(
    _ ids: AcceptedIDs, of scope: AppScope, at now: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) {
    let column: SQL = ids == .unknown ? "accepted_unknown_at" : "accepted_cancelled_at"
    _ = try session.execute(
      "UPDATE flags SET " + column
        + " = \(now) WHERE \(in: scope)")
  }
}

package enum AcceptedIDs: Sendable {
  /// Apple's API does not know them (4040010).
  case unknown
  /// Their bulk migration was canceled before a lookup.
  case cancelled

  package var name: String {
    switch self {
    case .unknown: "unknown ids"
    case .cancelled: "ids of cancelled migrations"
    }
  }
}
