@Suite(.enabled(if: Samples.directory != nil, "the samples are not beside the package"))
struct `switchyard jws verify on real samples` {
  private static let mock = "apple_library/mock_signed_data"

  private func verify(_ sample: String, _ options: [String]) async throws -> Program.Outcome {
    let directory = try #require(Samples.directory)
    return try await Program().run(
      ["jws", "verify", "--json"] + options.map { $0.replacing("SAMPLES", with: directory) }
        + ["\(directory)/\(sample)"])
  }

  @Test(arguments: [
    ("testNotification", "notification"), ("transactionInfo", "transaction"), ("renewalInfo", "renewal"),
  ])
  func `verifies what Apple's library signed below its test root`(name: String, kind: String) async throws {
    let outcome = try await verify(
      "\(Self.mock)/\(name)", ["--root", "SAMPLES/apple_library/certs/testCA.der", "--bundle-id", "com.example"])
    #expect(outcome.status == 0, "\(outcome)")
    #expect(try outcome.objects.first?["kind"] == .string(kind))
  }

  @Test(arguments: [
    ("wrongBundleId", "wrongBundle"), ("missingX5CHeaderClaim", "missingCertificates"),
    ("legacyTransaction", "notAJWS"),
  ])
  func `refuses what Apple's library means to be wrong`(name: String, code: String) async throws {
    let outcome = try await verify(
      "\(Self.mock)/\(name)", ["--root", "SAMPLES/apple_library/certs/testCA.der", "--bundle-id", "com.example"])
    #expect(outcome.status == 1)
    #expect(try outcome.objects.first?["error"]?.object?["code"] == .string(code), "\(outcome)")
  }

  @Test func `verifies what Apple signed in 2021`() async throws {
    let answer = try JSONReader.read(#require(Samples.bytes("v2/omnichess_status_raw_jws.json"))).object
    let last = answer?["data"]?.array?.first?.object?["lastTransactions"]?.array?.first?.object
    let lines = ["signedTransactionInfo", "signedRenewalInfo"].compactMap { last?[$0]?.string }
    let outcome = try await Program().run(
      "jws", "verify", "--json", "--bundle-id", "club.omnichess.ios", "-",
      input: Array(lines.joined(separator: "\n").utf8))
    #expect(outcome.status == 0, "\(outcome)")
    let objects = try outcome.objects
    #expect(objects.map { $0["kind"] } == ["transaction", "renewal"])
    #expect(objects.first?["payload"]?.object?["originalTransactionId"] == last?["originalTransactionId"])
  }

  @Test func `refuses what Xcode signed`() async throws {
    let outcome = try await verify("apple_library/xcode/xcode-signed-transaction", ["--environment", "Xcode"])
    #expect(outcome.status == 1)
    #expect(try outcome.objects.first?["error"]?.object?["code"] == "unsignedTestData", "\(outcome)")
  }
}
