@Suite struct `switchyard mappings` {
  private let place = TemporaryDirectory()
  private let program = Program()

  /// A file of the repository.
  private func file(_ path: String) throws -> String {
    let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    return String(decoding: try #require(Files.contents(of: "/\(root)/\(path)", limit: 1 << 20)), as: UTF8.self)
  }

  @Test func `document is the page in docs`() async throws {
    let page = try await program.run("mappings", "document").output
    #expect(
      try file("docs/mappings.md") == page, "run: swift run switchyard mappings document > docs/mappings.md")
  }

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

  @Test func `check takes this build and edited tables, and says the line and what to do`() async throws {
    let own = try await program.run("mappings", "check")
    #expect(own.status == 0 && !own.output.contains("wrong"), "\(own)")
    let events = try file("Mappings/events.tsv")
    let well = place.file("events.tsv", Array(events.utf8))
    #expect(try await program.run("mappings", "check", well).output == "ok    \(well)\n")
    let edited = events.replacing("N-014\tDID_RENEW\t-\tpurchase", with: "N-014\tDID_RENEW\t-\ttomorrow")
    let wrong = place.file("events.tsv", Array(edited.utf8))
    let outcome = try await program.run("mappings", "check", wrong)
    #expect(outcome.status == 1)
    let line = try #require(edited.split(separator: "\n").firstIndex { $0.hasPrefix("N-014") }) + 1
    #expect(outcome.output.hasPrefix("wrong \(wrong):\(line): N-014"), "\(outcome)")
    #expect(outcome.output.contains("Write one of: purchase, expiry, revocation, signed."))
    let object = try await program.run("mappings", "check", "--json", wrong).objects.first
    #expect(object?["ok"] == false)
    #expect(object?["problems"]?.array?.first?.object?["line"] == .integer(Int64(line)))
  }

  @Test func `diff tells what another copy says otherwise`() async throws {
    let events = try file("Mappings/events.tsv")
    let same = place.file("events.tsv", Array(events.utf8))
    let equal = try await program.run("mappings", "diff", same)
    #expect(equal.status == 0 && equal.output == "", "\(equal)")
    let edited = events.replacing("N-014\tDID_RENEW\t-\tpurchase", with: "N-014\tDID_RENEW\t-\texpiry")
      .replacing("N-042\tPRICE_CHANGE\t-\tsigned", with: "N-900\tNEWS\t-\tsigned")
    let other = place.file("events.tsv", Array(edited.utf8))
    let outcome = try await program.run("mappings", "diff", other)
    #expect(outcome.status == 5)
    #expect(
      outcome.output == """
        events.tsv
          - N-042 PRICE_CHANGE - signed
          ~ N-014 date: purchase -> expiry
          + N-900 NEWS - signed

        """, "\(outcome)")
    _ = place.file("news.tsv", Array("id\n".utf8))
    let folder = try #require(try await program.run("mappings", "diff", "--json", place.path).objects.first)
    #expect(folder["equal"] == false && folder["unknown"] == ["news.tsv"])
    #expect(folder["missing"]?.array?.contains("transaction-fields.tsv") == true)
  }

  @Test(
    arguments: [
      (["show", "--row", "N-999"], "no row has the id", 1), (["show", "event"], "Did you mean \"events\"?", 2),
      (["check", "other.tsv"], "there is no table", 1), (["diff", "other.tsv"], "there is no table", 1),
      (["check", "absent/events.tsv"], "there is no file", 1), (["diff"], "Give PATH", 2),
    ] as [([String], String, Int32)])
  func `say what is wrong with a call`(arguments: [String], words: String, status: Int32) async throws {
    let outcome = try await program.run(["mappings"] + arguments)
    #expect(outcome.status == status && outcome.notes.contains(words), "\(outcome)")
    #expect(outcome.output == "")
  }

  @Test func `diff says which copy cannot be read`() async throws {
    let broken = place.file("events.tsv", Array("id\tid\n".utf8))
    let outcome = try await program.run("mappings", "diff", broken)
    #expect(outcome.status == 1 && outcome.notes.contains("mappings check"), "\(outcome)")
  }
}
