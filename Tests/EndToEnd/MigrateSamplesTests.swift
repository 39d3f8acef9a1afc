/// What real back ends kept, mixed in one folder.
@Suite struct `The samples as a source` {
  @Test func `go through the whole way, and each receipt that is proven brings its ids`() async throws {
    guard let directory = Samples.directory, let bytes = Samples.bytes("receipts/expected.json") else { return }
    let expected = try JSONReader.read(bytes).array?.compactMap(\.object) ?? []
    let database = try await TestDatabase.migrated()
    let (program, place) = (database.program, TemporaryDirectory())
    let apps = Set(expected.compactMap { $0["bundle_id"]?.string })
    for app in apps.sorted() { #expect(try await program.run("app", "add", app).status == 0) }
    var files: [String] = []
    for folder in ["receipts", "verify_receipt", "notifications_v1"] {
      for path in Samples.paths(under: folder) where !path.hasSuffix("expected.json") {
        files.append("\(directory)/\(path)")
        _ = place.file(path.replacing("/", with: "-"), Samples.bytes(path) ?? [])
      }
    }
    let here = try await program.run("migrate", "start", place.path, "--environment", "Sandbox", "--yes", "--here")
    #expect(here.status == 6, "no key: ids wait, \(here)")
    let status = try #require(try await program.run("migrate", "status", "1", "--json").objects.first)
    #expect(MigrateSite.balances(status), "\(status)")
    #expect(status["accounts"]?.object?["in"]?.integer == Int64(files.count), "\(status)")
    let known = Set(try await database.rows("SELECT id FROM migration_ids").map { try $0.text("id") })
    for receipt in expected where receipt["receipt_type"] != "Xcode" {
      for id in receipt["original_transaction_ids"]?.array?.compactMap(\.string) ?? [] where id != "None" {
        #expect(known.contains(id), "\(id) of \(receipt["file"]?.string ?? "")")
      }
    }
    // Whether or not a process works on it, what was read is there and nothing is asked without a key.
    #expect(try await database.rows("SELECT 1 FROM work WHERE state <> 0").isEmpty)
  }
}
