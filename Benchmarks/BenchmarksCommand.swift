import Runtime

/// The command line: `swift run -c release Benchmarks`.
enum BenchmarksCommand {
  static let command = Command(
    "Benchmarks", "Measures each figure beside its ceiling or its peer, in one run.",
    discussion: "How each is measured stands in the head of its file. Build it with -c release.",
    examples: [
      "Benchmarks --only notification.verify-decode-map", "Benchmarks --only answers --customers 100000",
      "Benchmarks --json --seconds 20",
    ],
    options: [
      .flag("json", "One JSON object a line instead of a table."),
      .value(
        "only", "NAME", repeats: true, choices: Benchmark.all.map(\.name) + Benchmark.families,
        "This one alone, or those whose names begin so; may be given again."),
      .value("seconds", "N", default: "60", "How long the service is put under load."),
      .value("receipts", "N", default: "100000", "How many receipts are extracted in bulk."),
      .value("customers", "N", default: "1000", "How many customers the ledger of `answers.http` has."),
      .value("waiting", "N", default: "20000", "How many messages wait when the outage of `forwarding` ends."),
      .flag("peer", "Measure Apple's library too: makes .peer, which needs Python and a package index."),
      .value("answers", "FILE", "Serves finished answers; `seeding.history` starts it so."),
      .value("peer-script", "FILE", default: "../shared/bench/peers.py", "What times Apple's library."),
    ]
  ) { arguments, terminal in
    if let file = arguments.value("answers") {
      try await FinishedAnswers.serve(file, terminal)
      return .done
    }
    let only = Set(arguments.values("only"))
    let settings = Benchmark.Settings(
      seconds: try arguments.integer("seconds", in: 1...3_600) ?? 60, mayInstallPeer: arguments.flag("peer"),
      peerScript: try arguments.required("peer-script"),
      receipts: try arguments.integer("receipts", in: 1_000...10_000_000) ?? 100_000,
      customers: try arguments.integer("customers", in: 1_000...1_000_000) ?? 1_000,
      waiting: try arguments.integer("waiting", in: 1_000...1_000_000) ?? 20_000, note: { terminal.note($0) })
    var report = Report()
    for benchmark in Benchmark.all
    where only.isEmpty || only.contains(benchmark.name) || only.contains(benchmark.family) {
      terminal.note("\(benchmark.name): \(benchmark.summary)")
      let measurements = try await benchmark.run(settings)
      report.add(measurements)
      if arguments.flag("json") { for measurement in measurements { try terminal.write(measurement.line) } }
    }
    if !arguments.flag("json") { try terminal.write(report.table(for: terminal)) }
    return .done
  }
}
