import Comparison
import JSON
import Ledger
import Mappings
import Purchases
import Runtime

/// `switchyard compare rules`: the reading of each open rule that the operator's own traffic confirms.
enum CompareRules {
  static let command = Command(
    "rules", "Count how often Apple's answers agreed with each reading of the rules that are not proven.",
    discussion: """
      The kept responses of comparisons are composed with every reading of each open rule of \
      `switchyard mappings show answer-rules`. A reading agrees where it is nearer to Apple's answer than another one. \
      CHOOSE is yes where a single reading of a rule was never contradicted, and agreed with the answers for at least \
      20 customers; `too few` for fewer. Missing notifications look like another reading: find out first with `switchyard reconcile \
      --dry-run` that nothing is missing. The newest --limit comparisons whose answers are kept are read: all that differed, \
      and one in 50 of the others. A line below the table shows their number, and whether there are more.
      """,
    examples: [Command.Example("switchyard compare rules --app com.example.app --limit 1000")],
    options: [CompareCommand.appOption, EnvironmentOption.option, CompareCommand.limitOption, JSONOutput.option]
      + MasterKeyOptions.options
  ) { arguments, terminal in
    let database = try DatabaseOptions(arguments)
    let key = MasterKeyOptions(arguments, database: database)
    return try await database.withLedger(terminal) { connection in
      let kept = try await KeptComparisons(arguments, connection, key, terminal)
      var (tally, comparisons, customers) = (RuleOptionTally(), 0, Set<String>())
      let unread = try await kept.forEach { one in
        let customer = "\(one.app) \(one.row.scope.environment.rawValue) \(one.row.customer)"
        tally.add(one.pair, of: customer)
        customers.insert(customer)
        comparisons += 1
      }
      var table = TextTable([
        .init("ROW"), .init("RULE"), .init("READING"), .init("AGREED", .right), .init("CUSTOMERS", .right),
        .init("CONTRADICTED", .right), .init("CHOOSE"),
      ])
      for row in Vocabulary.embedded.answerRules.rows {
        guard let count = tally.counts[row.id] else { continue }
        let advice = tally.advice(on: row)
        let isAdvised = advice == .choose
        let app = arguments.value("app") ?? "APP"
        let next = isAdvised && !row.isDefault ? "switchyard app set \(app) --answer-reading \(row.id)" : nil
        if arguments.wantsJSON {
          try terminal.write([
            "row": .string(row.id), "rule": .string(row.rule.rawValue), "reading": .string(row.reading.rawValue),
            "default": .bool(row.isDefault), "agreed": .integer(Int64(count.agreed)),
            "customers": .integer(Int64(count.customers)), "contradicted": .integer(Int64(count.contradicted)),
            "advised": .bool(isAdvised), "tooFew": .bool(advice == .tooFew),
            "comparisonsRead": .integer(Int64(comparisons)), "customersRead": .integer(Int64(customers.count)),
            "more": .bool(kept.hasMore),
            "next_steps": .array(next.map { [.string($0)] } ?? []),
          ])
        } else {
          table.add([
            row.id, row.rule.rawValue, row.reading.rawValue, "\(count.agreed)", "\(count.customers)",
            "\(count.contradicted)", Self.text(advice, row.isDefault),
          ])
        }
      }
      if !arguments.wantsJSON { try terminal.write(table.render(for: terminal)) }
      let more = kept.hasMore ? CompareCommand.noteOfMore : "There are no older ones."
      terminal.note("\(comparisons) comparisons of \(customers.count) customers were read. \(more)")
      if unread > 0 { terminal.note("\(unread) others could not be read: is it the service's master key and build?") }
      return .done
    }
  }

  private static func text(_ advice: RuleOptionTally.Advice, _ isDefault: Bool) -> String {
    switch advice {
    case .unproven: "-"
    case .tooFew: "too few"
    case .choose: isDefault ? "(default)" : "yes"
    }
  }
}
