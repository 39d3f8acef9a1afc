import Ledger
import Operations
import Runtime
import Time

extension OutboxFilter {
  static let options: [Option] = [
    .value(
      "class", "CLASS", choices: TrustLevel.allCases.map(\.name),
      "proven: signed by Apple. claimed: with the shared secret. unproven: neither."),
    .value("error", "TEXT", "Those whose last error contains TEXT, as `answered 401`."),
    .value("older-than", "TIME", "Those that have waited for longer."),
    .value("newer-than", "TIME", "Those that came since then."),
  ]

  init(_ arguments: ParsedArguments) throws(UsageError) {
    self.init()
    let name = arguments.value("class")
    proof = TrustLevel.allCases.first { $0.name == name }
    reason = arguments.value("error")
    olderThan = try arguments.duration("older-than", in: .seconds(0)...(.days(10_000)))
    newerThan = try arguments.duration("newer-than", in: .seconds(0)...(.days(10_000)))
  }
}
