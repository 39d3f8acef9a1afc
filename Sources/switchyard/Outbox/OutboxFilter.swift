import Ledger
import Runtime
import Time

/// Which messages of the outbox are meant, beside their app: the same options for listing, replay and giving up.
struct OutboxFilter {
  static let options: [Option] = [
    .value(
      "class", "CLASS", choices: ProofClass.allCases.map(\.name),
      "proven: signed by Apple. claimed: with the shared secret. unproven: neither."),
    .value("reason", "TEXT", "Those whose last error contains TEXT, as `answered 401`."),
    .value("older-than", "HOURS", "Those that have waited for longer."),
    .value("newer-than", "HOURS", "Those that came since then."),
  ]

  private let proof: ProofClass?
  private let reason: String?
  private let olderThan: Int?
  private let newerThan: Int?

  init(_ arguments: ParsedArguments) throws(UsageError) {
    let name = arguments.value("class")
    proof = ProofClass.allCases.first { $0.name == name }
    reason = arguments.value("reason")
    olderThan = try arguments.integer("older-than", in: 0...100_000)
    newerThan = try arguments.integer("newer-than", in: 0...100_000)
  }

  /// Whether no option was given.
  var isEmpty: Bool { proof == nil && reason == nil && olderThan == nil && newerThan == nil }

  /// What was asked for, for the audit.
  var summary: String {
    [
      proof.map { "class \($0.name)" }, reason.map { "reason \($0)" }, olderThan.map { "older than \($0) h" },
      newerThan.map { "newer than \($0) h" },
    ].compactMap(\.self).joined(separator: ", ")
  }

  func narrow(_ selection: inout OutboxTable.Selection, at now: Milliseconds) {
    selection.proof = proof
    selection.reason = reason
    selection.createdBefore = olderThan.map { now - .hours(Int64($0)) }
    selection.createdSince = newerThan.map { now - .hours(Int64($0)) }
  }
}
