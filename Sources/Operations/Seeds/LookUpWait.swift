package import Database
package import JSON
package import Ledger
package import Time

/// The reason why open lookups of an app and environment wait, and until when.
package struct LookUpWait: Hashable, Sendable {
  package enum Cause: String, Sendable {
    /// No process calls Apple.
    case noProcess
    /// A process is looking up the last of them.
    case leased
    /// The process that leased the last of them is gone.
    case leasedByGone
    /// The last attempts failed, or were made a moment ago.
    case putOff
  }

  package let cause: Cause
  /// The awaited event, as in `waits for …`.
  package let text: String
  /// The time of the next try.
  ///
  /// `nil` if unknown.
  package let until: Timestamp?

  /// Returns `nil` if a process makes due lookups, or without open ones.
  package static func read(
    _ scope: AppScope, at now: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) -> Self? {
    Self(try WaitingLookUps.read(scope, at: now, in: session), at: now)
  }

  init?(_ waiting: WaitingLookUps, at now: Timestamp) {
    let leased = waiting.leased.reduce(0) { $0 + $1.count }
    guard waiting.due + leased > 0 || waiting.next != nil else { return nil }
    if !waiting.isAnybodyAlive, waiting.due > 0 {
      self.init(.noProcess, "a process that asks Apple: start `switchyard serve` on this database", nil)
    } else if waiting.due > 0 {
      // Rows that arrived since are due, although Apple refuses access for the app.
      guard let hold = waiting.hold, leased == 0 else { return nil }
      self.init(.putOff, Self.nextTry(hold.at, hold.reason), hold.at)
    } else if let gone = waiting.leased.first(where: { !$0.isAlive }) {
      let silence = ProcessTable.silence
      self.init(
        .leasedByGone,
        "\(gone.count.counted("id")) leased by \(gone.process ?? "a process") that is gone: free within "
          + "\(silence.milliseconds / 1_000) s\(waiting.isAnybodyAlive ? "" : " of the start of `switchyard serve`")",
        waiting.isAnybodyAlive ? now + silence : nil)
    } else if let busy = waiting.leased.first {
      let others = waiting.leased.count > 1 ? " and others" : ""
      self.init(
        .leased, "\(leased.counted("id")) about which \(busy.process ?? "a process")\(others) asks Apple now", nil)
    } else if let next = waiting.next {
      self.init(.putOff, Self.nextTry(next.at, next.reason), next.at)
    } else {
      return nil
    }
  }

  private static func nextTry(_ at: Timestamp, _ reason: String?) -> String {
    "the next try at \(at.iso8601)" + (reason.map { " (\($0))" } ?? "")
  }

  private init(_ cause: Cause, _ text: String, _ until: Timestamp?) {
    (self.cause, self.text, self.until) = (cause, text, until)
  }

  package var json: JSONObject {
    ["cause": .string(cause.rawValue), "text": .string(text), "until": until.map { .integer($0.sinceEpoch) } ?? .null]
  }
}
