import Glibc
import JSON
import Support
import Testing

/// The runbooks of the bulk migration, typed word for word against a simulated App Store.
@Suite struct `The runbooks of the bulk migration` {
  private static let mark: Character = "\u{1E}"

  /// Types all blocks of a runbook, with `values` in place of its examples; what each printed, the first left out.
  private func type(_ name: String, _ values: [String: String], _ site: MigrateSite) async throws -> [String] {
    let runbook = try Runbook(name)
    #expect(runbook.headings == Runbook.headings)
    #expect(!runbook.hasUntyped, "every command of \(name) is in a block that is typed")
    let roots = site.roots.map { "'\($0)'" }.joined(separator: " ")
    var script = """
      cd '\(site.database.place.path)'
      switchyard() {
        case "$1 ${2:-}" in
          "migrate plan") command switchyard "$@" \(roots) ;;
          *) command switchyard "$@" ;;
        esac
      }

      """
    for (number, block) in runbook.blocks.enumerated() {
      script += "printf '\(Self.mark)'\n" + block.commands + "\n"
      if number == 0 { script += values.map { "\($0)='\($1)'\n" }.joined() }
    }
    let outcome = try await site.program.shell(script)
    #expect(outcome.status == 0, "\(name): \(outcome)")
    let printed = outcome.output.split(separator: Self.mark, omittingEmptySubsequences: false).dropFirst(2)
    try #require(printed.count == runbook.blocks.count - 1, "\(name): \(outcome)")
    return printed.map(String.init)
  }

  @Test func `bring receipts to their end, and say what to do with ids that Apple does not know`() async throws {
    try await MigrateSite.with(customers: 10) { site in
      var site = site
      site.program.environment["SWITCHYARD_DATA_DIR"] = "\(site.database.place.path)/data"
      let table = site.database.place.file(
        "old.csv",
        Array((site.receipts + ["\(MigrateSite.app),broken,n/a!"]).joined(separator: "\n").utf8))
      let secret = site.apple.world["apps"]?.array?.first?.object?["sharedSecret"]?.string ?? ""
      let file = site.database.place.file("secret", Array(secret.utf8))
      #expect(try await site.program.run("app", "secret", MigrateSite.app, "--file", file).status == 0)
      let service = try await site.serve()
      let printed = try await type("bulk-migration", ["SOURCE": table], site)
      #expect(printed[0].contains("1 rejected: notBase64") && printed[0].contains("CALLS"), "\(printed[0])")
      #expect(printed[1].contains("migration 1 is"), "\(printed[1])")
      #expect(printed[4].contains(#""state":"done""#) && printed[4].contains("They balance."), "\(printed[4])")
      #expect(Program.text("\(site.database.place.path)/rejects.csv").contains("broken,n/a!,notBase64"))

      let ids = site.database.place.file("ids.txt", Array("999999999999999\n".utf8))
      let job = try await site.start(ids, "--app", MigrateSite.app, "--environment", "Sandbox")
      let status = try await site.ended(job)
      #expect(status["accounts"]?.object?["unknown"] == 1, "\(status)")
      let unresolvable = try await type("unresolvable-seeds", ["APP": MigrateSite.app], site)
      #expect(unresolvable[0].contains("999999999999999") && unresolvable[0].contains("unknown"), "\(unresolvable[0])")
      #expect(unresolvable[1].contains("1 ids to be asked about"), "\(unresolvable[1])")
      #expect(await service.end(SIGTERM) == 0)
    }
  }
}
