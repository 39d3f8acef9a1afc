import Ledger
import Operations
import Runtime

extension OutboxFilter {
  static let options: [Option] = [
    .value(
      "class", "CLASS", choices: ProofClass.allCases.map(\.name),
      "proven: signed by Apple. claimed: with the shared secret. unproven: neither."),
    .value("reason", "TEXT", "Those whose last error contains TEXT, as `answered 401`."),
    .value("older-than", "HOURS", "Those that have waited for longer."),
    .value("newer-than", "HOURS", "Those that came since then."),
  ]

  init(_ arguments: ParsedArguments) throws(UsageError) {
    self.init()
    let name = arguments.value("class")
    proof = ProofClass.allCases.first { $0.name == name }
    reason = arguments.value("reason")
    olderThan = try arguments.integer("older-than", in: 0...100_000)
    newerThan = try arguments.integer("newer-than", in: 0...100_000)
  }
}
