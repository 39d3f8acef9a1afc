@Suite struct `An edited table` {
  private let events = String(decoding: MappingTable.events.bytes, as: UTF8.self)

  private func problems(_ text: String, as table: MappingTable = .events) -> [TableCheck.Problem] {
    TableCheck(Array(text.utf8), as: table).problems
  }

  /// The line of a row, from 1.
  private func line(of id: String) -> Int? {
    events.split(separator: "\n", omittingEmptySubsequences: false).firstIndex { $0.hasPrefix(id) }.map { $0 + 1 }
  }

  @Test(arguments: MappingTable.allCases)
  func `that was not edited is well, and is the one that is embedded`(table: MappingTable) {
    #expect(problems(String(decoding: table.bytes, as: UTF8.self), as: table) == [])
    #expect(table.embedded.rows.allSatisfy { $0.id.first == table.letter })
    #expect(table.embedded.comment.first?.isEmpty == false)
    #expect(table.subject.allSatisfy(table.embedded.columns.contains))
  }

  @Test func `has a letter of its own`() {
    #expect(Set(MappingTable.allCases.map(\.letter)).count == MappingTable.allCases.count)
  }

  @Test func `may gain rows`() { #expect(problems(events + "N-900\tNEWS\t-\tsigned\n") == []) }

  @Test(
    arguments: [
      ("N-014\tDID_RENEW\t-\tpurchase", "N-014\tDID_RENEW\t-\ttomorrow", "date", "purchase, expiry, revocation"),
      ("N-014\tDID_RENEW\t-\tpurchase", "N-014\tDID_RENEW\t-", "cells", "single tabs"),
      ("N-014\tDID_RENEW\t-\tpurchase", "N-14\tDID_RENEW\t-\tpurchase", "no id", "three digits"),
      ("N-014\tDID_RENEW\t-\tpurchase", "N-014\tDID_REPEAT\t-\tpurchase", "was DID_RENEW", "permanent"),
      ("N-014\tDID_RENEW\t-\tpurchase", "N-014\tTEST\t-\tpurchase", "was DID_RENEW", "permanent"),
      ("N-014\tDID_RENEW\t-\tpurchase", "N-013\tDID_RENEW\t-\tpurchase", "stands twice", "its own"),
    ] as [(String, String, String, String)])
  func `is refused with the line and what to do`(row: String, instead: String, what: String, next: String) throws {
    let found = problems(events.replacing(row, with: instead))
    let problem = try #require(found.first { $0.what.contains(what) }, "\(found)")
    #expect(problem.line == line(of: "N-014"))
    #expect(problem.next.contains(next))
  }

  @Test func `keeps every row that was released`() {
    let found = problems(events.replacing("N-014\tDID_RENEW\t-\tpurchase\n", with: ""))
    #expect(found.map(\.what) == ["N-014 (DID_RENEW) is gone"])
    #expect(problems("").map(\.what) == ["there is no row of column names"])
    #expect(problems("# why\nid\tdate\n").first?.line == 2)
    #expect(problems(events + "T-900\tNEWS\t-\tsigned\n").map(\.what) == ["T-900 is an id of another table"])
  }

  @Test func `is compared row by row and cell by cell`() throws {
    let ours = MappingTable.events.embedded
    let edited = events.replacing("N-014\tDID_RENEW\t-\tpurchase", with: "N-014\tDID_RENEW\t-\texpiry")
      .replacing("N-042\tPRICE_CHANGE\t-\tsigned", with: "N-900\tNEWS\t-\tsigned")
    let difference = TableDifference(from: ours, to: try Table(Array(edited.utf8)))
    let changes = difference.changed.map { [$0.id, $0.column, $0.ours, $0.theirs] }
    #expect(changes == [["N-014", "date", "purchase", "expiry"]])
    #expect(difference.added.map { [$0.id] + $0.cells } == [["N-900", "NEWS", "-", "signed"]])
    #expect(difference.removed.map { [$0.id] + $0.cells } == [["N-042", "PRICE_CHANGE", "-", "signed"]])
    #expect(TableDifference(from: ours, to: ours).isEmpty)
  }
}
