import Answering
package import Comparison
import Database
import JSON
import Ledger
import LegacyAnswers
import Purchases
import Receipts
import Runtime
package import Signing
import Time

/// Differences are looked at again: what is gone by then was a matter of time.
extension ShadowComparer {
  private static let atOnce = 50

  func settleAgainAndAgain() async {
    while !Task.isCancelled {
      do {
        var count = Self.atOnce
        while count == Self.atOnce, !Task.isCancelled { count = try await settleSome() }
      } catch {
        if !Task.isCancelled {
          logger.warning("comparisons were not looked at again", metadata: ["error": "\(error)"])
        }
      }
      try? await Task.sleep(for: settings.settlesEvery)
    }
  }

  /// Looks at some again; how many.
  private func settleSome() async throws -> Int {
    let now = clock.now()
    let due = try await pool.read { session throws(DatabaseError) in
      try ComparisonTable.lease(at: now, until: now + .minutes(5), limit: Self.atOnce, in: session)
    }
    for row in due where !Task.isCancelled {
      // What fails now is looked at again when its lease is over.
      let judgement = try await judgedAgain(row) ?? row.judgement
      try await pool.read { session throws(DatabaseError) in
        try ComparisonTable.settle(row.id, judgement, in: session)
      }
      if let app = answering.app(row.scope.app) {
        metrics.settled[[app.bundleID, row.scope.environment.rawValue, judgement.cause]].increment()
      }
    }
    return due.count
  }

  /// Nil where it can never be looked at again: then the first judgement stands.
  ///
  /// Throws what may be gone the next time.
  private func judgedAgain(_ row: ComparisonTable.Row) async throws -> ComparisonTable.Outcome? {
    guard let app = answering.app(row.scope.app), let composer = answering.composer(for: app) else { return nil }
    let sealed = try await pool.read { session throws(DatabaseError) in
      try ComparisonTable.body(of: row.id, in: session)
    }
    let (id, keys) = (row.id, keys)
    guard let sealed, let pair = await thread.run({ Self.pair(sealed, of: id, with: keys) }) else { return nil }
    guard
      let facts = try await answering.facts(
        of: pair.request.receipt, app: app, environment: row.scope.environment, until: pair.request.date)
    else { return nil }
    return await thread.run {
      let judge = ResponseComparator(composer)
      let first = Set(judge.compare(pair).differences.map(\.field.key))
      let still = Set(judge.compare(pair.recomposed(by: composer, from: facts)).differences.map(\.field.key))
      return judge.compare(pair, goneLater: first.subtracting(still)).judgement
    }
  }

  /// A kept comparison; nil where it does not open, or was written by a build that this one cannot read.
  package static func pair(_ sealed: [UInt8], of id: Int64, with keys: Keyring) -> ResponsePair? {
    guard let box = try? Sealed(sealed), let body = try? keys.open(box, context: context(id)) else { return nil }
    guard let json = try? JSONReader.read(body, limits: JSONLimits(bytes: body.count, depth: 32)).object,
      let data = ResponsePair.receiptData(in: json),
      let receipt = ReceiptReader().read(Array(data.utf8)).receipt
    else { return nil }
    return ResponsePair(json, receipt: receipt)
  }
}
