@testable import BulkMigration

@Suite struct `A folder of a plan` {
  private let place = TemporaryDirectory()

  private func write(_ text: String, _ name: String) throws {
    try OutputFile("\(place.path)/\(name)").write(Array(text.utf8))
  }

  @Test func `has changed when it has other files than the plan, or other sizes`() throws {
    try write("2000000900000001\n", "b.txt")
    let planned = try FileSource.parts(of: place.path)
    #expect(try FileSource.changedFolders(since: planned) == [])
    try write("2000000900000002\n", "a.txt")
    #expect(try FileSource.changedFolders(since: planned) == [place.path])
    let grown = try FileSource.parts(of: place.path)
    #expect(try FileSource.changedFolders(since: grown) == [])
    try write("2000000900000002\n2000000900000003\n", "a.txt")
    #expect(try FileSource.changedFolders(since: grown) == [place.path])
    // As an older build may have written it.
    let respelled = try FileSource.parts(of: place.path).map { part in
      MigrationJobTable.NewPart(source: part.source.replacing(#"":"#, with: #"": "#), size: part.size)
    }
    #expect(try FileSource.changedFolders(since: respelled) == [])
    // A file is compared when it is opened.
    #expect(try FileSource.changedFolders(since: FileSource.parts(of: "\(place.path)/b.txt")) == [])
  }
}
