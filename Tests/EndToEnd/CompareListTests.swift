@Suite struct `The list of comparisons` {
  private static let app = "com.example.listed"

  @Test func `with an impact alone has a line for each, with the customer and what would have changed`() async throws {
    let database = try await TestDatabase.migrated()
    let program = database.program
    _ = try await program.run("app", "add", Self.app)
    let now = WallClock.system.now()
    let end = Timestamp(1_893_456_000_000)
    let fields = ["status", "latest_receipt_info[0]"].map {
      #"{"path":"\#($0)","cause":"unknown","theirs":0,"ours":1,"impact":{"product":"p"}}"#
    }
    let differences = "[" + fields.joined(separator: ",") + "]"
    let customer = "1000000000000001"
    let products = [
      #""productId":"plus","theirsUntil":\#(end.sinceEpoch),"oursUntil":null,"loses":true"#,
      #""productId":"coins","theirsUntil":null,"oursUntil":"forever","loses":false"#,
    ].map { #"{"originalTransactionId":"\#(customer)",\#($0)}"# }
    let impact = #"{"access":true,"products":[\#(products.joined(separator: ","))]}"#
    try await database.execute(
      """
      INSERT INTO comparisons (app, environment, window_start, customer, receipt, compared_at, epoch, cause, counts,
        differences, impact)
      SELECT id, 1, 1, UNHEX(MD5('1')), UNHEX(MD5('1')), \(now), 2, 'unknown', 1,
        \(differences), \(impact) FROM apps
      """)
    let list = ["compare", "list", "--app", Self.app, "--impact"]
    let shown = try await program.run(list)
    let lines = shown.output.split(separator: "\n")
    #expect(shown.status == 0 && lines.count == 2, "\(shown)")
    let line = try #require(lines.last)
    for text in [
      "unknown", "plus (\(customer)): until \(end.iso8601) by Apple's answer, not at all by Switchyard's; ",
      "coins (\(customer)): not at all by Apple's answer, forever by Switchyard's",
      "status, latest_receipt_info[0]",
    ] { #expect(line.contains(text), "\(text): \(line)") }
    let told = try await program.run(list + ["--json"]).objects
    #expect(told.map { $0["path"]?.string } == ["status", "latest_receipt_info[0]"])
    #expect(told.allSatisfy { $0["counts"] == true && $0["environment"] == "Production" })
    #expect(try await program.run(list + ["--cause", "ourDefect"]).output.split(separator: "\n").count == 1)
  }

  @Test func `names where each was made, marks those that do not count, and says that there are more`() async throws {
    let database = try await TestDatabase.migrated()
    let program = database.program
    _ = try await program.run("app", "add", Self.app)
    try await database.addComparisons(3, affected: 2)
    try await database.addIncomplete(1)
    for words in [["compare", "list"], ["compare", "list", "--impact"]] {
      let lines = try await program.run(words).output.split(separator: "\n")
      #expect(lines.count == 4, "\(lines)")
      #expect(lines.dropFirst().allSatisfy { $0.contains("  \(Self.app)  Production   ") }, "\(lines)")
      let named = try await program.run(words + ["--app", Self.app, "--environment", "Production"])
      #expect(!named.output.contains("APP ") && !named.output.contains("Production"), "\(named)")
    }
    let shown = try await program.run("compare", "list", "--impact")
    #expect(shown.output.split(separator: "\n").count { $0.contains("  no      ") } == 1, "\(shown)")
    #expect(shown.notes.contains("1 of them do not count"), "\(shown)")
    #expect(!shown.notes.contains("--limit"), "\(shown)")
    let first = try await program.run("compare", "list", "--limit", "2")
    #expect(first.output.split(separator: "\n").count == 3 && first.notes.contains("--limit N"), "\(first)")
  }
}
