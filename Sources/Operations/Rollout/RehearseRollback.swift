package import Database
import Ledger
package import Purchases
import Rollout
import Runtime
package import Time

/// Rehearses a rollback: measures how long it takes until every running service works by a change of the stage.
///
/// An app whose answers are ours goes back to `shadow` and then where it was: its customers get Apple's answers for that
/// time. In other stages, and in `complete`, where Apple is not asked, only the epoch changes.
package struct RehearseRollback: Sendable {
  package struct Outcome: Sendable {
    package let stage: String
    package let processes: Int
    /// Until every process worked by the rollback, and until every one worked by the stage again.
    package let back: Interval
    package let forth: Interval
    /// By which the ledger can be read now: another one if the connection broke.
    package let connection: Connection
  }

  /// What its two changes of the stage are called in the audit.
  static let (begins, ends): (StaticString, StaticString) = ("rollout.drill.begin", "rollout.drill.end")

  private let bundleID: String
  private let environment: Environment
  private let limit: Interval

  /// - Parameter limit: how long is waited for the processes.
  package init(_ bundleID: String, in environment: Environment, within limit: Interval = .seconds(60)) {
    self.bundleID = bundleID
    self.environment = environment
    self.limit = limit
  }

  package func plan(on connection: Connection) async throws -> RolloutStanding {
    _ = try await AppRecord.find(bundleID, connection)
    let (bundleID, environment) = (bundleID, environment)
    let standing = try await connection.read { session throws(DatabaseError) in
      try RolloutStanding.all(in: session).first {
        $0.app.bundleID == bundleID && $0.flag.environment == environment
      }
    }
    guard let standing else { throw RehearsalFailed("\(bundleID) has no stage in \(environment.rawValue)") }
    return standing
  }

  /// Rehearses it, and notes the evidence; the stage is as it was afterwards, also when the processes do not follow in time.
  ///
  /// If anybody changes the stage meanwhile (an operator, the guard, `rollout kill`), their change stays and the rehearsal fails.
  /// A rehearsal that is cancelled puts the stage back first.
  package func apply(
    _ standing: RolloutStanding, by author: Author, clock: WallClock, on connection: Connection
  ) async throws -> Outcome {
    let name = Move.name(standing.flag.stage, standing.flag.share)
    let goesBack = standing.flag.stage.answers != .apple && standing.flag.stage.asksVerifyReceipt
    var found = try await services(connection)
    // One that has just begun says so in a moment.
    for _ in 0..<20 where found.isEmpty {
      try? await Task.sleep(for: .milliseconds(100))
      found = try await services(connection)
    }
    let services = found
    guard !services.isEmpty else {
      throw RehearsalFailed("no service is running, so nothing can be measured: start `switchyard serve`")
    }
    try Task.checkCancellation()
    let target = goesBack ? Stage.shadow : standing.flag.stage
    let start = ContinuousClock.now
    let share = standing.flag.share
    let rehearsed = try await begin(standing, to: target, goesBack ? nil : share, author, clock, connection)
    let back = await followed(by: services, since: start, connection)
    let middle = ContinuousClock.now
    let current = try await withCancellationShield {
      try await putBack(standing, from: rehearsed, author, clock, connection)
    }
    var forth = back
    if case .success = back { forth = await followed(by: services, since: middle, current) }
    try Task.checkCancellation()
    let measured: (back: Followed, forth: Followed)
    do throws(RehearsalFailed) { measured = (try back.get(), try forth.get()) } catch {
      throw RehearsalFailed("\(error.description); the stage was put back to \(name)")
    }
    let now = clock.now()
    let counts = try await current.transaction { session throws(DatabaseError) in
      // Somebody may have changed the stage since, and voided the evidence.
      guard try FlagTable.all(in: session)[standing.scope]?.epoch == rehearsed.epoch + 1 else { return false }
      let detail =
        "\(measured.forth.count) processes, back in \(measured.back.took.milliseconds) ms, forth in \(measured.forth.took.milliseconds) ms"
      try EvidenceTable.add(.drill, of: standing.scope, at: now, detail, in: session)
      try author.note(
        "rollout.drill", of: standing.app.bundleID, "\(standing.flag.environment.rawValue): \(detail)", at: now,
        in: session)
      return true
    }
    guard counts else { throw RehearsalFailed(changedMeanwhile: standing) }
    return Outcome(
      stage: name, processes: measured.forth.count, back: measured.back.took, forth: measured.forth.took,
      connection: current)
  }

  /// The services that said something a moment ago, by their random ids.
  private func services(_ connection: Connection) async throws -> Set<[UInt8]> {
    let notes = try await connection.read { session throws(DatabaseError) in try ProcessTable.notes(in: session) }
    return Set(notes.filter { !$0.isSilent }.map(\.service.process))
  }

  /// Changes the stage for the rehearsal and returns it as it is then.
  private func begin(
    _ standing: RolloutStanding, to stage: Stage, _ share: RampShare?, _ author: Author, _ clock: WallClock,
    _ connection: Connection
  ) async throws -> Flag {
    do {
      let changed = try await connection.transaction { session throws(DatabaseError) in
        try change(standing, from: standing.flag, to: stage, share, Self.begins, author, clock, session)
      }
      guard let changed else { throw RehearsalFailed(changedMeanwhile: standing) }
      return changed
    } catch let error as DatabaseError where error.code == .commitOutcomeUnknown {
      throw RehearsalFailed(notPutBack: standing, error)
    }
  }

  /// Puts the stage back, and returns the connection by which the ledger can be read then.
  ///
  /// It is repeated after a commit of which nobody knows: by the epoch it finds out whether the stage is back.
  private func putBack(
    _ standing: RolloutStanding, from rehearsed: Flag, _ author: Author, _ clock: WallClock, _ connection: Connection
  ) async throws -> Connection {
    var patient = PatientConnection(connection)
    let wanted = standing.flag
    // That of a commit of which nobody knows whether it happened.
    var unknown: DatabaseError?
    while true {
      var trouble: DatabaseError?
      do throws(DatabaseError) {
        let isRepeated = unknown != nil
        let isBack = try await patient.connection.transaction(lockWait: patient.lockWait) {
          session throws(DatabaseError) in
          if isRepeated, let flag = try FlagTable.all(in: session)[standing.scope], flag.epoch == rehearsed.epoch + 1,
            (flag.stage, flag.share) == (wanted.stage, wanted.share)
          {
            return true
          }
          return try change(
            standing, from: rehearsed, to: wanted.stage, wanted.share, Self.ends, author, clock, session) != nil
        }
        if isBack { return patient.connection }
      } catch { trouble = error }
      guard let trouble else { throw RehearsalFailed(changedMeanwhile: standing) }
      if trouble.code == .commitOutcomeUnknown { unknown = trouble }
      do { try await patient.pause(after: trouble) } catch let error as DatabaseError {
        throw RehearsalFailed(notPutBack: standing, unknown ?? error)
      }
    }
  }

  /// Changes the stage and returns it as it is then; nil if somebody else did.
  ///
  /// - Parameter flag: as it must still be, by its epoch.
  private func change(
    _ standing: RolloutStanding, from flag: Flag, to stage: Stage, _ share: RampShare?, _ action: StaticString,
    _ author: Author, _ clock: WallClock, _ session: borrowing Session
  ) throws(DatabaseError) -> Flag? {
    let now = clock.now()
    guard try FlagTable.advance(standing.scope, from: flag, to: stage, share: share, at: now, in: session) else {
      return nil
    }
    try author.note(
      action, of: standing.app.bundleID,
      "\(flag.environment.rawValue): \(Move.name(flag.stage, flag.share)) to \(Move.name(stage, share))", at: now,
      in: session)
    return try FlagTable.all(in: session)[standing.scope]
  }

  private struct Followed {
    /// How many services; those that stopped properly are not among them.
    let count: Int
    let took: Interval
  }

  /// How long it took until every service worked by the stages as they are now.
  ///
  /// - Parameter services: those that must. One that stopped properly is excused; one that falls silent has not followed, and
  ///   may go on answering.
  private func followed(
    by services: Set<[UInt8]>, since start: ContinuousClock.Instant, _ connection: Connection
  ) async -> Result<Followed, RehearsalFailed> {
    do {
      let mark = try await connection.read { session throws(DatabaseError) in try FlagTable.mark(in: session) }
      while ContinuousClock.now - start < .milliseconds(limit.milliseconds) {
        let notes = try await connection.read { session throws(DatabaseError) in try ProcessTable.notes(in: session) }
        if let silent = notes.first(where: { $0.isSilent && services.contains($0.service.process) }) {
          let service = silent.service.name.map { "the service \($0)" } ?? "a service"
          return .failure(RehearsalFailed("\(service) fell silent: it was killed, or is frozen or cut off"))
        }
        let left = notes.filter { services.contains($0.service.process) }
        if left.isEmpty { return .failure(RehearsalFailed("every service that was to be measured has stopped")) }
        if left.allSatisfy({ $0.mark >= mark }) {
          let elapsed = (ContinuousClock.now - start).components
          let took = Interval.milliseconds(
            elapsed.seconds * 1_000 + elapsed.attoseconds / 1_000_000_000_000_000)
          return .success(Followed(count: left.count, took: took))
        }
        try await Task.sleep(for: .milliseconds(100))
      }
    } catch { return .failure(RehearsalFailed("it could not be found out whether the services followed: \(error)")) }
    return .failure(RehearsalFailed("not every service followed within \(limit.milliseconds / 1_000) seconds"))
  }
}
