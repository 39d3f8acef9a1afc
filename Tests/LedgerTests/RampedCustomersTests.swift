/// Many customers through the steps of a ramp, decided about by processes of which none knows of another.
@Suite struct `A ramp of many customers` {
  /// In hundredths of a percent.
  private static let steps = [100, 500, 2_500, 5_000, 10_000]

  @Test func `holds each step, and nobody changes sides but who is newly in, whoever joins and restarts`() async throws
  {
    let ramp = try await ManyInRamp(TestSize.rampedCustomers)
    var inside: [Int: Set<Int>] = [0: []]
    var before: Set<Int> = []
    for step in Self.steps {
      let now = try await ramp.inside(at: step)
      // That the hash itself holds each step is shown of 100,000 in `A customer's bucket`; the table keeps that very one.
      #expect(now == ramp.hashed(into: step), "\(step)")
      #expect(before.isSubset(of: now), "\(step)")
      let (percent, wanted) = (Double(now.count * 100) / Double(ramp.count), Double(step) / 100)
      #expect(abs(percent - wanted) < Self.tolerance(of: wanted, among: ramp.count), "\(percent) for \(wanted) %")
      (inside[step], before) = (now, now)
    }
    try await ramp.join()
    // At the same step, down, to nobody, up again and on: each time by a process that has just begun.
    for step in [5_000, 500, 0, 5_000, 10_000] {
      let (now, alone) = (try await ramp.inside(at: step), try #require(inside[step]))
      // Whoever joined somebody who is in is in, and nobody else came or went.
      #expect(now == ramp.joined(alone), "\(step): \(now.symmetricDifference(ramp.joined(alone)).count)")
      #expect(alone.isSubset(of: now))
    }
    // Of so many some were let in by a join.
    let half = try #require(inside[5_000])
    #expect(ramp.joined(half).count > half.count)
  }

  /// In points: half a one of 100,000; of fewer what chance makes of so many.
  private static func tolerance(of percent: Double, among count: Int) -> Double {
    guard count < 100_000 else { return 0.5 }
    return max(0.5, 5 * (percent * (100 - percent) / Double(count)).squareRoot())
  }
}

/// Customers of one app of which every tenth turns out to be the next one too.
private struct ManyInRamp {
  private static let now = Timestamp(1_796_000_000_000)
  private static let salt = "s"

  private let configuration: DatabaseConfiguration
  private let app: App
  private let scope: AppScope
  /// The only id of each.
  private let ids: [String]

  init(_ count: Int) async throws {
    configuration = try await PrivateMariaDB.shared.database()
    ids = (0..<count).map { "\(2_000_000_000_000_000 + $0)" }
    let connection = try await Connection.open(configuration)
    app = try await connection.read { session throws(DatabaseError) in
      _ = try Migrator().migrate(at: Self.now, in: session)
      return try AppTable.add(bundleID: "com.example.app", appAppleID: nil, at: Self.now, in: session)
    }
    await connection.close()
    scope = AppScope(app: app.id, environment: .sandbox)
  }

  var count: Int { ids.count }

  /// Who would be in by the documented hash alone.
  func hashed(into hundredths: Int) -> Set<Int> {
    Set(
      ids.indices.filter {
        Bucket(salt: Self.salt, app: app.bundleID, customer: ids[$0]).number < hundredths
      })
  }

  /// Sets the step as `rollout set` does, with another salt each time, and has a process that begins then decide about
  /// everybody; who gets our answers.
  func inside(at hundredths: Int) async throws -> Set<Int> {
    let connection = try await Connection.open(configuration)
    let flag = try await connection.transaction { [scope] session throws(DatabaseError) -> StageRecord? in
      guard let flag = try StageTable.all(in: session)[scope], let share = RampPercentage(hundredths: hundredths) else {
        return nil
      }
      let salt = flag.salt.isEmpty ? Self.salt : "\(hundredths) \(flag.epoch)"
      _ = try StageTable.advance(
        scope, from: flag, to: .ramp, share: share, salt: salt, at: Self.now, in: session)
      return try StageTable.all(in: session)[scope]
    }
    let salt = try #require(flag?.salt)
    let share = try #require(flag?.share)
    #expect(salt == Self.salt && share.hundredths == hundredths)
    var inside: Set<Int> = []
    for first in stride(from: 0, to: ids.count, by: 500) {
      let part = first..<min(first + 500, ids.count)
      inside.formUnion(
        try await connection.transaction { [app, scope, ids] session throws(DatabaseError) -> [Int] in
          var inside: [Int] = []
          for place in part {
            let bucket = try BucketTable.decide(
              [ids[place]], app: app, in: scope, salt: salt, at: Self.now, session: session)
            if let bucket, share.contains(bucket) { inside.append(place) }
          }
          return inside
        })
    }
    await connection.close()
    return inside
  }

  /// The first of each pair that turns out to be one customer; the next is the second.
  private var pairs: [Int] { ids.indices.dropLast().filter { $0.isMultiple(of: 10) } }

  /// Apple's word that some are one.
  func join() async throws {
    let connection = try await Connection.open(configuration)
    try await connection.transaction { [app, ids, pairs] session throws(DatabaseError) in
      for first in pairs {
        let label = "o\(ids[first])"
        for node in [label, "o\(ids[first + 1])"] {
          _ = try session.execute(
            """
            INSERT INTO customers (app, environment, node, label)
            VALUES (\(app.id.number), 2, \(node), \(label))
            """)
        }
      }
    }
    await connection.close()
  }

  /// Who is in once they have joined, of whom these were before.
  func joined(_ alone: Set<Int>) -> Set<Int> {
    var all = alone
    for first in pairs where alone.contains(first) || alone.contains(first + 1) { all.formUnion([first, first + 1]) }
    return all
  }
}
