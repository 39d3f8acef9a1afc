@testable import BulkMigration

@Suite struct `The check of a migration's sources` {
  private let place = TemporaryDirectory()

  private func check(_ text: String, _ named: NamedColumns = NamedColumns()) async throws -> InputColumns? {
    let path = "\(place.path)/receipts.csv"
    try OutputFile(path).write(Array(text.utf8))
    let parts = try FileSource.parts(of: path, columns: named)
    return try await SourceCheck.columns(of: parts) { Keyring(current: .generate()) }[parts[0].source]
  }

  private func flaw(_ text: String, _ named: NamedColumns = NamedColumns()) async throws -> String {
    let flaw = await #expect(throws: SourceCheck.Flaw.self) { try await check(text, named) }
    return flaw?.description ?? ""
  }

  @Test func `refuses a table of which no column is known to hold receipts`() async throws {
    let flaw = try await flaw("Kunde;Beleg\nu1;MIIT\n")
    #expect(flaw.contains("Kunde, Beleg") && flaw.contains("--column receipt=NAME"), "\(flaw)")
  }

  @Test func `refuses a header that is not there, and tells those that are`() async throws {
    let flaw = try await flaw("Kunde;receipt\nu1;MIIT\n", NamedColumns(receipt: "Beleg"))
    #expect(flaw.contains("--column receipt=Beleg") && flaw.contains("Its columns: Kunde, receipt."), "\(flaw)")
    let lines = try await self.flaw("2000000900000001\n", NamedColumns(userID: "Kunde"))
    #expect(lines.contains("It has no header."), "\(lines)")
  }

  @Test func `finds the columns that the job will read`() async throws {
    let columns = try await check("Kunde;Beleg;Preis\nu1;MIIT;3\n", NamedColumns(receipt: "Beleg"))
    #expect(columns?.receipt == "Beleg" && columns?.userID == nil && columns?.unread == ["Kunde", "Preis"])
  }

  @Test func `takes no column for two things, but for the key`() {
    var wishes = TableInspection.Wishes()
    (wishes.key, wishes.content, wishes.userID, wishes.app) = ("id", "id", "user", nil)
    #expect(wishes.ambiguous == nil)
    wishes.app = "user"
    #expect(wishes.ambiguous == "user")
    (wishes.content, wishes.app) = ("user", "app")
    #expect(wishes.ambiguous == "user")
  }

  @Test func `refuses sources of which none has a row`() async throws {
    for text in ["", "\n\n", "user_id,receipt\n"] {
      let empty = await #expect(throws: SourceCheck.Empty.self, "\(text)") { try await check(text) }
      #expect(empty?.description.contains("receipts.csv") == true && empty?.exitStatus == .failed)
    }
    let folder = "\(place.path)/exports"
    #expect(FileMetadata.makeDirectory(folder))
    func parts() throws -> [MigrationJobTable.NewPart] { try FileSource.parts(of: folder) }
    func checkFolder() async throws { _ = try await SourceCheck.columns(of: parts()) { Keyring(current: .generate()) } }
    await #expect(throws: SourceCheck.Empty.self) { try await checkFolder() }
    try OutputFile("\(folder)/a.csv").write(Array("user_id,receipt\n".utf8))
    await #expect(throws: SourceCheck.Empty.self) { try await checkFolder() }
    try OutputFile("\(folder)/b.csv").write(Array("user_id,receipt\nu1,MIIT\n".utf8))
    try await checkFolder()
  }

  @Test func `refuses each named source without a row, beside others that have some`() async throws {
    let folder = "\(place.path)/folder of files"
    #expect(FileMetadata.makeDirectory(folder))
    let (header, row) = ("user_id,receipt\n", "u1,MIIT\n")
    for (name, text) in [("full.csv", header + row), ("empty.csv", header), ("folder of files/a.csv", "")] {
      try OutputFile("\(place.path)/\(name)").write(Array(text.utf8))
    }
    var named: [String: String] = [:]
    for (file, name) in [("full.csv", "full.csv"), ("empty.csv", "standard input"), ("folder of files", "folder")] {
      named[FileMetadata.absolute("\(place.path)/\(file)")] = name
    }
    let paths = ["full.csv", "empty.csv", "folder of files", "empty.csv"].map { "\(place.path)/\($0)" }
    let names = named
    func checkAll() async throws {
      let parts = try paths.flatMap { path throws in try FileSource.parts(of: path) }
      _ = try await SourceCheck.columns(of: parts, named: names) { Keyring(current: .generate()) }
    }
    let empty = await #expect(throws: SourceCheck.Empty.self) { try await checkAll() }
    #expect(empty?.description == "folder, standard input have no rows. Check the export.")
    // An empty file among others of a folder is no failed export.
    try OutputFile("\(folder)/b.csv").write(Array((header + row).utf8))
    let one = await #expect(throws: SourceCheck.Empty.self) { try await checkAll() }
    #expect(one?.description == "standard input has no rows. Check the export.")
  }

  private func headers(_ named: NamedColumns, atMost most: Int = HeaderCheck.mostFiles) async throws -> HeaderCheck {
    try await HeaderCheck(FileSource.parts(of: "\(place.path)/folder", columns: named), atMost: most)
  }

  @Test func `looks for named columns in every file of a folder`() async throws {
    let folder = "\(place.path)/folder"
    #expect(FileMetadata.makeDirectory(folder))
    for (name, text) in [
      ("a.csv", "Kunde;receipt\nu1;MIIT\n"), ("b.csv", "receipt;Kunde\nMIIT;u1\n"), ("c.txt", "2000000900000001\n"),
      ("d.jsonl", #"{"receipt":"MIIT"}"# + "\n"), ("e.csv", ""), ("f.gz", "\u{1F}"),
    ] {
      try OutputFile("\(folder)/\(name)").write(Array(text.utf8))
    }
    let named = NamedColumns(userID: "Kunde")
    let whole = try await headers(named)
    #expect(whole.lacking >= 2 && whole.example?.hasSuffix("/c.txt") == true && whole.isWhole, "\(whole)")
    #expect(whole.text?.contains("c.txt") == true, "\(whole)")
    let first = try await headers(named, atMost: 2)
    #expect(first.lacking == 0 && !first.isWhole && first.text?.contains("first 2 files") == true, "\(first)")
    #expect(try await headers(NamedColumns()).text == nil)
    try OutputFile("\(folder)/g.csv").write(Array("Kundin;receipt\nu2;MIIT\n".utf8))
    let flaw = await #expect(throws: SourceCheck.Flaw.self) { try await headers(named) }
    let told = flaw?.description ?? ""
    #expect(told.contains("--column user=Kunde") && told.contains("g.csv") && told.contains("Kundin"), "\(told)")
    // What has no named column is read as it always was.
    _ = try await headers(NamedColumns())
  }

  @Test func `says which named member no object of a file has`() async throws {
    let path = "\(place.path)/receipts.jsonl"
    try OutputFile(path).write(Array((#"{"receipt":"MIIT","kundenNr":"u1"}"# + "\n").utf8))
    func text(_ named: NamedColumns) async throws -> String? {
      try await HeaderCheck(FileSource.parts(of: path, columns: named)).text
    }
    #expect(try await text(NamedColumns(userID: "kundenNr")) == nil)
    let told = try await text(NamedColumns(userID: "KundenNummer")) ?? ""
    #expect(told.contains("The first rows of") && told.contains("receipts.jsonl do not have"), "\(told)")
  }

  @Test func `refuses a table that cannot be read with the password that the job would have`() async throws {
    let old = try await PrivateMariaDB.shared.database()
    let connection = try await Connection.open(old)
    try await connection.read { session throws(DatabaseError) in
      try session.run("CREATE TABLE receipts_old (id INT NOT NULL PRIMARY KEY, receipt TEXT NULL)")
      try session.run("INSERT INTO receipts_old VALUES (1, NULL)")
      try session.run("CREATE USER IF NOT EXISTS checked_reader@localhost IDENTIFIED BY 'p@ss'")
      try session.run("GRANT SELECT ON *.* TO checked_reader@localhost")
    }
    await connection.close()
    var reader = old
    reader.user = "checked_reader"
    let source = TableSource(
      address: DatabaseURL.withoutPassword(reader), table: "receipts_old",
      columns: .init(key: "id", content: "receipt", userID: nil, app: nil), keyKind: .integer, condition: nil,
      estimate: nil)
    let keys = Keyring(current: .generate())
    _ = try await SourceCheck.columns(of: [source.part(password: "p@ss", sealedWith: keys)]) { keys }
    let none = TableSource(
      address: source.address, table: source.table, columns: source.columns, keyKind: .integer,
      condition: try WhereClause("id > 7"), estimate: nil)
    let empty = await #expect(throws: SourceCheck.Empty.self) {
      try await SourceCheck.columns(of: [none.part(password: "p@ss", sealedWith: keys)]) { keys }
    }
    #expect(empty?.description == "No row of table receipts_old matches --where.")
    for (password, told) in [(nil, "without a password"), ("wrong", "with this password")] as [(String?, String)] {
      let part = source.part(password: password, sealedWith: keys)
      let flaw = await #expect(throws: SourceCheck.Flaw.self) { try await SourceCheck.columns(of: [part]) { keys } }
      let text = flaw?.description ?? ""
      #expect(text.contains(told) && text.contains("SWITCHYARD_SOURCE_DATABASE"), "\(text)")
    }
  }
}
