@Suite struct `A table of this build` {
  @Test(arguments: MappingTable.allCases)
  func `can be read, and every id begins with its letter`(table: MappingTable) throws {
    try table.load(table.bytes)
    #expect(table.embedded.rows.allSatisfy { $0.id.first == table.letter })
    #expect(table.embedded.comment.first?.isEmpty == false)
  }

  @Test func `has a letter of its own`() {
    #expect(Set(MappingTable.allCases.map(\.letter)).count == MappingTable.allCases.count)
  }

  @Test func `is in docs/mappings.md as it is`() throws {
    let page = MappingsPage().text
    if TestSize.writesDocuments { try ProjectFile.write(page, to: "docs/mappings.md") }
    let isCurrent = try ProjectFile.text("docs/mappings.md") == page
    #expect(isCurrent, "run: SWITCHYARD_WRITE_DOCS=1 swift test --filter MappingsTests")
  }
}
