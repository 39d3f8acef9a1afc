@Suite struct `switchyard mappings` {
  private let program = Program()

  @Test func `show lists the tables, a table, a row`() async throws {
    let tables = try await program.run("mappings", "show", "--json").objects
    #expect(tables.contains { $0["table"] == "events" && $0["letter"] == "N" && $0["rows"]?.integer ?? 0 > 40 })
    let letters = Set(tables.compactMap { $0["letter"]?.string })
    #expect(letters.count == tables.count)
    for table in tables {
      let rows = try await program.run("mappings", "show", "--json", try #require(table["table"]?.string)).objects
      #expect(rows.count == table["rows"]?.integer.map(Int.init))
    }
    let row = try await program.run("mappings", "show", "--row", "N-014", "--json")
    #expect(
      row.output
        == #"{"table":"events","id":"N-014","notificationType":"DID_RENEW","subtype":"-","date":"purchase"}"# + "\n")
    // As comparisons name it, without an option.
    let cause = try await program.run("mappings", "show", "d-030", "--json").objects
    #expect(cause.map { $0["table"] } == ["difference-causes"] && cause.first?["cause"] == "unknown", "\(cause)")
    let wrong = try await program.run("mappings", "show", "D-999")
    #expect(wrong.status == 2 && wrong.notes.contains("neither a table nor the id of a row"), "\(wrong)")
    let text = try await program.run("mappings", "show", "events")
    #expect(text.output.contains("N-014") && text.notes.contains("Row ids are permanent"))
  }

  @Test(
    arguments: [
      (["show", "--row", "N-999"], "no row has the id", 1), (["show", "event"], "Did you mean \"events\"?", 2),
    ] as [([String], String, Int32)])
  func `say what is wrong with a call`(arguments: [String], words: String, status: Int32) async throws {
    let outcome = try await program.run(["mappings"] + arguments)
    #expect(outcome.status == status && outcome.notes.contains(words), "\(outcome)")
    #expect(outcome.output == "")
  }
}
