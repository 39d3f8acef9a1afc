/// The runbooks of the bulk migration, typed word for word against a simulated App Store.
@Suite struct MigrationRunbookStory {
  @Test func `pages migrate receipts, and say what to do with IDs that Apple does not know`() async throws {
    try await MigrateSite.with(customers: 10) { site in
      var (program, place) = (site.program, site.database.place)
      program.environment["SWITCHYARD_DATA_DIR"] = "\(place.path)/data"
      let table = place.file(
        "old.csv", Array((site.receipts + ["\(MigrateSite.app),broken,n/a!"]).joined(separator: "\n").utf8))
      let file = place.file("secret", Array(site.apple.secret.utf8))
      #expect(try await program.run("app", "secret", MigrateSite.app, "--shared-secret-file", file).status == 0)
      let service = try await site.serve(isProcess: true)
      let roots = site.roots.map { "'\($0)'" }.joined(separator: " ")
      let trust = """
        switchyard() {
          case "$1 ${2:-}" in
            "migrate plan") command switchyard "$@" \(roots) ;;
            *) command switchyard "$@" ;;
          esac
        }
        """
      let printed = try await Runbook("bulk-migration").type(
        ["SOURCE": table], program, in: place.path, after: trust)
      #expect(printed[0].contains("1 rejected: notBase64"), "\(printed[0])")
      #expect(printed[0].contains("CALLS"), "\(printed[0])")
      #expect(printed[1].contains("migration 1 is"), "\(printed[1])")
      #expect(printed[4].contains(#""state":"done""#), "\(printed[4])")
      #expect(printed[4].contains("They balance."), "\(printed[4])")
      #expect(Program.text("\(place.path)/rejects.csv").contains("broken,n/a!,notBase64"))

      let ids = place.file("ids.txt", Array("999999999999999\n".utf8))
      let job = try await site.start(ids, "--app", MigrateSite.app, "--environment", "Sandbox")
      let status = try await site.ended(job)
      #expect(status["accounts"]?.object?["unknown"] == 1, "\(status)")
      let unknown = try await Runbook("unresolvable-seeds").type(["APP": MigrateSite.app], program, in: place.path)
      #expect(unknown[0].contains("999999999999999"), "\(unknown[0])")
      #expect(unknown[0].contains("unknown"), "\(unknown[0])")
      #expect(unknown[1].contains("1 ids to be asked about"), "\(unknown[1])")
      #expect(await service.end(SIGTERM) == 0, "\(service.notes)")
    }
  }
}
