@Suite(.enabled(if: Samples.directory != nil, "no ../shared/samples beside the project"))
struct `switchyard fidelity` {
  private let place = TemporaryDirectory()
  private let program = Program()
  private let samples = Samples.directory ?? ""

  private var receipt: String { "\(samples)/receipts/revenuecat_sandbox_sampleapp.b64" }
  private var answer: String { "\(samples)/verify_receipt/revenuecat_sandbox_sampleapp.json" }

  @Test func `finds no difference in a real pair`() async throws {
    let outcome = try await program.run("fidelity", "--json", receipt, answer)
    #expect(outcome.status == 0, "\(outcome)")
    let object = try #require(try outcome.objects.first)
    let counts = ["exact", "derived", "echoed", "unavailable"].compactMap { object[$0]?.integer }
    #expect(object["fields"]?.integer == counts.reduce(0, +) && counts.count == 4 && counts[0] > 100 && counts[1] > 100)
    #expect(object["different"] == .array([]))
    let text = try await program.run("fidelity", receipt, answer)
    #expect(text.status == 0 && text.output.contains("SAME"), "\(text)")
  }

  @Test func `names what differs, with the row that made ours`() async throws {
    let real = String(
      decoding: try #require(Samples.bytes("verify_receipt/revenuecat_sandbox_sampleapp.json")), as: UTF8.self)
    let edited = place.file(
      "edited.json",
      Array(real.replacing("\"application_version\": \"4\"", with: "\"application_version\": \"5\"").utf8))
    let outcome = try await program.run("fidelity", "--json", receipt, edited)
    #expect(outcome.status == 5, "\(outcome)")
    let different = try #require(try outcome.objects.first?["different"]?.array)
    #expect(
      different == [
        ["path": "receipt.application_version", "theirs": "5", "ours": "4", "rule": "F-005"]
      ])
  }

  @Test func `compares every pair of two folders`() async throws {
    let outcome = try await program.run("fidelity", "--json", "\(samples)/receipts", "\(samples)/verify_receipt")
    #expect(outcome.status == 0, "\(outcome)")
    #expect(try outcome.objects.count == 4 && outcome.notes.contains("4 of 4 pairs compared, 0 with differences"))
  }

  @Test func `says what is wrong with a call`() async throws {
    let status = try await program.run("fidelity", receipt, "\(samples)/verify_receipt/error_21007.json")
    #expect(status.status == 1 && status.notes.contains("Status 21007 comes without a receipt"), "\(status)")
    let reading = try await program.run("fidelity", "--reading", "Y-999", receipt, answer)
    #expect(reading.status == 2 && reading.notes.contains("Y-999"), "\(reading)")
    let swapped = try await program.run("fidelity", answer, receipt)
    #expect(swapped.status == 1, "\(swapped)")
  }
}
