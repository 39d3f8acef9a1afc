@Suite struct `switchyard convert` {
  private let place = TemporaryDirectory()
  private let program = Program()
  private let fixtures: SignedFixtures
  private let root: String

  init() throws {
    fixtures = try SignedFixtures()
    root = fixtures.root(in: place)
  }

  private func convert(_ arguments: String..., input: [UInt8]) async throws -> Program.Outcome {
    try await program.run(["convert", "--to", "canonical", "--json", "--root", root] + arguments + ["-"], input: input)
  }

  @Test func `prints one object with events, purchases and renewals`() async throws {
    let body = try fixtures.body(fixtures.notification())
    let outcome = try await convert(input: body)
    #expect(outcome.status == 0 && outcome.notes == "", "\(outcome)")
    #expect(try outcome.objects.count == 1)
    let document = try #require(try outcome.objects.first)
    let purchase = try #require(document["purchases"]?.array?.first?.object)
    for (name, value) in fixtures.transaction.members.map({ ($0.key, $0.value) }) where name != "signedDate" {
      #expect(purchase[name] == value, "\(name)")
    }
    let provenance: JSONValue = [
      "source": "signedV2", "asOf": .integer(SignedFixtures.signedAt), "trust": "signature",
      "message": .string(Digest.sha256(body).hex), "inferred": [],
    ]
    for name in ["events", "purchases", "renewals"] {
      let element = try #require(document[name]?.array?.first?.object)
      #expect(element["bundleId"] == .string(SignedFixtures.bundleID) && element["environment"] == "Sandbox")
      #expect(element["provenance"] == provenance)
      #expect(element["rules"]?.array?.isEmpty == false)
    }
    let event = try #require(document["events"]?.array?.first?.object)
    #expect(event["notificationType"] == "SUBSCRIBED" && event["rules"] == ["N-001"])
  }

  @Test func `says the same of a file as of stdin, and to people in tables`() async throws {
    let body = try fixtures.body(fixtures.notification())
    let file = place.file("body.json", body)
    let piped = try await convert(input: body)
    let read = try await program.run("convert", "--json", "--root", root, file)
    #expect(read.output == piped.output)
    let text = try await program.run("convert", "--root", root, file)
    #expect(text.status == 0)
    for words in ["signed by Apple", "events", "SUBSCRIBED", "com.example.switch.monthly", "renewals"] {
      #expect(text.output.contains(words), "\(words)")
    }
  }

  @Test func `trusts every root it is given, for signed data and receipts alike`() async throws {
    let pki = ReceiptPKI.known(at: Timestamp(SignedFixtures.signedAt))
    let other = place.file("receipts.der", pki.root.certificate.der)
    let app = SimulatedApp(name: "A", bundleID: SignedFixtures.bundleID, appAppleID: 1)
    let receipt = SimulatedReceipt(of: app, purchases: [], createdAt: Timestamp(SignedFixtures.signedAt))
    let proven = try await convert("--root", other, input: receipt.encoded(signedBy: pki))
    #expect(proven.output == #"{"events":[],"purchases":[],"renewals":[]}"# + "\n", "\(proven)")
    let refused = try await convert(input: receipt.encoded(signedBy: pki))
    #expect(refused.status == 1)
    let signed = try await convert("--root", other, input: fixtures.body(fixtures.notification()))
    #expect(signed.status == 0)
  }

  @Test func `refuses with a code, a detail and what to do next`() async throws {
    let stranger = try SignedFixtures()
    let cases: [(input: [UInt8], options: [String], code: String)] = [
      (try stranger.body(stranger.notification()), [], "unknownRoot"), ([], [], "emptyInput"),
      (fixtures.transaction.encoded(), [], "unsigned"), (Array("{".utf8), [], "notJSON"),
      (try fixtures.body(fixtures.notification()), ["--app", "com.example.other"], "wrongBundle"),
    ]
    for (input, options, code) in cases {
      let outcome = try await program.run(
        ["convert", "--to", "canonical", "--json", "--root", root] + options + ["-"], input: input)
      #expect(outcome.status == 1, "\(code): \(outcome)")
      let error = try #require(try outcome.objects.first?["error"]?.object)
      #expect(error["code"] == .string(code))
      #expect(error["detail"]?.string?.isEmpty == false && error["nextStep"]?.string?.isEmpty == false)
    }
    let text = try await program.run(["convert", "--root", root, "-"], input: fixtures.transaction.encoded())
    #expect(text.status == 1 && text.output.hasPrefix("REFUSED unsigned: ") && text.output.contains("--allow-unsigned"))
  }

  @Test func `takes what nobody vouches for when told so, and says it loudly`() async throws {
    let outcome = try await convert("--allow-unsigned", input: fixtures.transaction.encoded())
    let purchase = try #require(try outcome.objects.first?["purchases"]?.array?.first?.object)
    #expect(purchase["provenance"]?.object?["trust"] == "none")
    let text = try await program.run(
      ["convert", "--allow-unsigned", "-"], input: fixtures.transaction.encoded())
    #expect(text.output.contains("UNVERIFIED"))
  }

  @Test func `says what is wrong with a call`() async throws {
    for (arguments, status, words) in [
      (["convert", "--to", "v1", "-"], 2, "canonical"), (["convert"], 2, "Give FILE"),
      (["convert", "\(place.path)/absent"], 1, "there is no file"),
      (["convert", "--root", "/dev/null", "-"], 1, "no root certificate"),
    ] as [([String], Int32, String)] {
      let outcome = try await program.run(arguments)
      #expect(outcome.status == status && outcome.notes.contains(words), "\(outcome)")
      #expect(outcome.output == "")
      let told = try await program.run(arguments + ["--json"])
      let error = try #require(try told.objects.first?["error"]?.object, "\(told)")
      #expect(told.status == status)
      #expect(error["detail"]?.string?.contains(words) == true, "\(told)")
    }
  }
}
