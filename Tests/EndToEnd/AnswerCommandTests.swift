@Suite(.enabled(if: Samples.directory != nil, "no ../shared/samples beside the project"))
struct `switchyard answer` {
  private let samples = Samples.directory ?? ""
  private var receipt: String { "\(samples)/receipts/revenuecat_sandbox_sampleapp.b64" }

  @Test func `composes what would be answered now, and says why news may be missing`() async throws {
    let database = try await TestDatabase.migrated()
    let program = database.program
    let unknown = try await program.run("answer", receipt)
    #expect(unknown.status == 1 && unknown.output.isEmpty, "\(unknown)")
    let bundleID = try #require(unknown.notes.split(separator: " ").first { $0.hasPrefix("com.") }.map(String.init))
    _ = try await program.run("app", "add", bundleID.trimmingPrefix("`").filter { !"`:,".contains($0) })
    let outcome = try await program.run("answer", "--json", "--explain", receipt)
    #expect(outcome.status == 3, "\(outcome)")
    let object = try #require(try outcome.objects.first)
    #expect(object["fresh"] == false)
    let reasons = (object["reasons"]?.array ?? []).compactMap { $0.object?["code"]?.string }
    #expect(reasons.contains("noHistory"))
    // Its subscriptions ended years ago, and nothing was heard of that here: nobody would be told so.
    #expect(object["answeredBy"] == .null)
    #expect(object["answer"]?.object?["receipt"]?.object?["in_app"]?.array?.count == 9)
    let fields = object["fields"]?.array ?? []
    #expect(fields.count > 100 && fields.allSatisfy { $0.object?["rule"]?.string?.isEmpty == false })
    let text = try await program.run("answer", "--explain", receipt)
    #expect(text.status == 3 && text.output.contains("receipt.bundle_id") && text.notes.contains("noHistory"))
    let other = try await program.run("answer", "--app", "com.example.other", receipt)
    #expect(other.status == 1 && other.notes.contains("another app"), "\(other)")
    let production = try await program.run("answer", "--environment", "Production", receipt)
    #expect(production.status == 1 && production.notes.contains("21007"), "\(production)")
  }
}
