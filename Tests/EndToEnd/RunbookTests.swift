import Database
import Glibc
import JSON
import Runtime
import Support
import Testing
import Time

/// The runbooks of keeping up with Apple, typed word for word against a simulated App Store.
@Suite struct `The runbooks` {
  private static let app = "com.example.kept"
  private static let stranger = "com.example.stranger"

  /// An App Store, the program told to ask it, and the service it sends to.
  private struct Site {
    let apple: RunningSimulator
    let database: TestDatabase
    let program: Program
    let service: RunningProgram

    /// What a shell needs to know before a runbook's own words: whom to trust beside Apple.
    var preamble: String {
      """
      switchyard() {
        case "$1 ${2:-}" in
          reconcile*|"quarantine replay") command switchyard "$@" --trust-root '\(apple.root)' ;;
          api*) command switchyard "$@" --root '\(apple.root)' ;;
          *) command switchyard "$@" ;;
        esac
      }

      """
    }

    private static let mark: Character = "\u{1E}"

    /// Types all blocks of a runbook, with `values` in place of its examples; what each printed, the first left out.
    func type(_ name: String, _ values: [String: String]) async throws -> [String] {
      let runbook = try Runbook(name)
      #expect(runbook.headings == Runbook.headings)
      #expect(!runbook.hasUntyped, "every command of \(name) is in a block that is typed")
      var script = preamble
      for (number, block) in runbook.blocks.enumerated() {
        script += "printf '\(Self.mark)'\n" + block.commands + "\n"
        if number == 0 { script += values.map { "\($0)='\($1)'\n" }.joined() }
      }
      let outcome = try await program.shell(script)
      #expect(outcome.status == 0, "\(name): \(outcome)")
      let printed = outcome.output.split(separator: Self.mark, omittingEmptySubsequences: false).dropFirst(2)
      try #require(printed.count == runbook.blocks.count - 1, "\(name): \(outcome)")
      return printed.map(String.init)
    }

    func register(_ app: String) async throws {
      let added = try await program.run(["app", "add", app] + apple.key)
      try #require(added.status == 0, "\(added)")
    }
  }

  @Test func `find what was missed, explain a purchase and a refund, and empty quarantine`() async throws {
    let database = try await TestDatabase.migrated()
    let now = WallClock.system.now()
    let arguments = [
      "--seed", "5", "--customers", "24", "--history", "60", "--app", Self.app, "--app", Self.stranger,
      "--as-of", "\((now - .days(50)).sinceEpoch)",
    ]
    try await RunningSimulator.with(arguments, in: database.place) { apple in
      var program = database.program
      program.environment["SWITCHYARD_DATA_DIR"] = "\(database.place.path)/data"
      program.environment.merge(apple.environment) { $1 }
      let added = try await program.run(["app", "add", Self.app] + apple.key)
      try #require(added.status == 0, "\(added)")
      let service = try await RunningProgram.serve(
        program, ["--trust-root", apple.root, "--reconcile-every", "0", "--heartbeat-every", "0"])
      let site = Site(apple: apple, database: database, program: program, service: service)
      let typed: Result<Void, any Error>
      do { typed = .success(try await type(site, until: now)) } catch { typed = .failure(error) }
      await service.end(SIGTERM)
      try typed.get()
    }
  }

  /// Fifty days in which three of five notifications are lost, and one app is nobody's; at the end a refund of which
  /// nobody hears: its purchase.
  private func live(_ site: Site, until now: Milliseconds) async throws -> JSONObject {
    let apple = site.apple
    for app in [Self.app, Self.stranger] {
      try await apple.control(
        "destination", "bundleId=\(app)", "environment=Sandbox", "url=\(site.service.url)/notifications", "version=2")
    }
    try await apple.control("fault", "fault=dropped", "on=notifications", "percent=60", "times=null")
    try await apple.control("advance", "to=\((now - .hours(1)).sinceEpoch)")
    let bought = try #require(
      try await apple.purchases(of: Self.app).last { line in
        let transaction = line["transaction"]?.object
        return transaction?["inAppOwnershipType"] == "PURCHASED" && transaction?["revocationDate"] == nil
          && transaction?["purchaseDate"]?.integer ?? 0 > (now - .days(40)).sinceEpoch
      })
    try await apple.control("fault", "fault=dropped", "on=notifications", "operation=REFUND", "times=null")
    try await apple.control(
      "act", "act=refund", "transactionId=\(bought["transaction"]?.object?["transactionId"]?.string ?? "")",
      "bundleId=\(Self.app)", "environment=Sandbox")
    try await apple.control("advance", "to=\(now.sinceEpoch)")
    try await apple.control("mend")
    return bought
  }

  private func type(_ site: Site, until now: Milliseconds) async throws {
    let refunded = try await live(site, until: now)
    let (apple, program) = (site.apple, site.program)
    let purchases = try await apple.purchases(of: Self.app)
    let known = Set(
      try await site.database.rows("SELECT DISTINCT original_transaction_id AS id FROM aliases").map {
        try $0.text("id")
      })
    func original(_ line: JSONObject) -> String {
      line["transaction"]?.object?["originalTransactionId"]?.string ?? ""
    }
    let lost = try #require(
      purchases.first { line in
        line["transaction"]?.object?["inAppOwnershipType"] == "PURCHASED" && !known.contains(original(line))
      }, "somebody is not known at all")

    let found = try await site.type(
      "lost-first-purchase", ["APP": Self.app, "ID": original(lost), "URL": site.service.url])
    #expect(found[0] == "", "nothing is known of it")
    #expect(found[1].contains(#""history":"done""#) && found[1].contains(original(lost)), "\(found[1])")
    #expect(found[2].hasPrefix("revoked "))
    #expect(found[3].contains("TAKEN IN"))
    #expect(found[4].contains("customer") && found[4].contains(original(lost)), "\(found[4])")
    let tokens = try await program.run("app", "show", Self.app, "--json").objects.first?["tokens"]?.array ?? []
    #expect(tokens.count == 1 && tokens.allSatisfy { $0.object?["revokedAt"]?.integer != nil }, "it is ended again")

    let missed = try await site.type("missed-notifications", ["APP": Self.app, "ENVIRONMENT": "Sandbox"])
    #expect(missed[0].contains("heartbeat") || missed[0].contains("quarantine"), "\(missed[0])")
    #expect(missed[1].contains("TO TAKE IN") && missed[2].contains("TAKEN IN"))
    #expect(missed[3].contains("SUCCESS") && missed[3].contains("TEST"), "\(missed[3])")
    #expect(missed[4].contains("notifications") && missed[4].contains("RECOVERED"))

    let complaint = try await site.type(
      "refund-complaint",
      ["APP": Self.app, "ENVIRONMENT": "Sandbox", "ORDER_ID": try #require(refunded["orderId"]?.string)])
    #expect(complaint[0].contains("REVOKED") && complaint[0].contains(original(refunded)))
    #expect(complaint[1].contains("REFUND"), "\(complaint[1])")
    #expect(complaint[2].contains("revocationDate") && complaint[3].contains("TRANSACTION"))
    #expect(complaint[5].contains(original(refunded)))

    // The other app was not registered: all of it waits.
    let waiting = try await program.run("quarantine", "list", "--json").objects
    #expect(waiting.contains { $0["code"] == "unknownApp" })
    let quarantine = try await site.type("quarantine", ["APP": Self.stranger])
    #expect(quarantine[0].contains("unknownApp") && quarantine[0].contains("signedPayload"), "\(quarantine[0])")
    #expect(quarantine[1].contains("register \(Self.stranger)"))
    #expect(quarantine[2].contains("accepted"), "\(quarantine[2])")
    #expect(!quarantine[3].contains("unknownApp"), "\(quarantine[3])")
    #expect(quarantine[4] == "0 would be deleted; say --yes to delete them\n")
    #expect(try await program.run("quarantine", "list", "--json").objects.isEmpty)
  }
}
