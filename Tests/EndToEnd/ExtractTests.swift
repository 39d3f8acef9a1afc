@Suite struct `switchyard extract` {
  /// A world made by the program itself: 80 customers of two apps.
  private static func world(_ seed: Int, in place: TemporaryDirectory) async throws -> String {
    let path = "\(place.path)/world"
    let made = try await Program().run(
      "simulate", "--generate", "--seed", "\(seed)", "--customers", "80", "--app", "com.example.a", "--app",
      "com.example.b", "--out", path)
    #expect(made.status == 0, "\(made.notes)")
    let world = try #require(try JSONReader.read(Array(Program.text("\(path)/world.json").utf8)).object)
    let root = try #require(world["receiptRootDER"]?.string.flatMap { Base64.standard.decode(Array($0.utf8)) })
    _ = place.file("root.der", root)
    return path
  }

  private static func objects(_ path: String) throws -> [JSONObject] {
    try Program.text(path).split(separator: "\n").compactMap { try JSONReader.read(Array($0.utf8)).object }
  }

  @Test func `gives every id of a generated world, and its accounts`() async throws {
    let place = TemporaryDirectory()
    let world = try await Self.world(7, in: place)
    let run = try await Program().run(
      "extract", "--json", "--root", "\(place.path)/root.der", "--rejects", "\(place.path)/rejects",
      "\(world)/receipts.csv")
    #expect(run.status == 0)
    let summary = try #require(try JSONReader.read(Array(run.notes.utf8)).object)
    let truth = try Self.objects("\(world)/truth.jsonl")
    let customers = truth.filter { $0["kind"] == "customer" }
    #expect(customers.count == 80)
    // Who bought nothing has no receipt to send.
    let owners = customers.filter { $0["receipt"] != nil }
    #expect(owners.count > 40)
    #expect(summary["in"]?.integer == Int64(owners.count) && summary["usable"] == summary["in"])
    #expect(summary["rejected"] == 0)
    #expect(summary["reasons"] == [:])
    for (line, customer) in zip(try run.objects, owners) {
      #expect(line["app"] == customer["app"])
      #expect(line["userId"] == customer["userId"])
      #expect(line["verified"] == true)
      #expect(try Self.originals(line) == Self.originals(inReceiptOf: customer, truth))
    }
    #expect(Set(owners.compactMap { $0["receipt"]?.string }) == ["current", "sha1", "transaction"])
  }

  private static func originals(_ line: JSONObject) -> Set<String> {
    Set(line["originalTransactionIds"]?.array?.compactMap(\.string) ?? [])
  }

  /// Receipts leave consumables out that are finished; one of a transaction has the newest purchase alone.
  private static func originals(inReceiptOf customer: JSONObject, _ truth: [JSONObject]) throws -> Set<String> {
    let purchases = truth.filter { $0["kind"] == "purchase" && $0["customer"] == customer["customer"] }
      .filter { $0["isFinished"] != true || $0["transaction"]?.object?["type"] != "Consumable" }
      .compactMap { $0["transaction"]?.object }
    func date(_ transaction: JSONObject) -> Int64 { transaction["purchaseDate"]?.integer ?? 0 }
    let isOne = customer["receipt"] == "transaction"
    let newest = try #require(purchases.max { date($0) < date($1) })
    return Set((isOne ? [newest] : purchases).compactMap { $0["originalTransactionId"]?.string })
  }

  @Test func `says of a receipt what receipt inspect says`() async throws {
    let place = TemporaryDirectory()
    let world = try await Self.world(8, in: place)
    let rows = Program.text("\(world)/receipts.csv").split(separator: "\n").dropFirst()
    for number in [0, 7, 11] {
      let receipt = try #require(rows[rows.startIndex + number].split(separator: ",").last)
      let file = place.file("receipt", Array(receipt.utf8))
      let root = "\(place.path)/root.der"
      let line = try #require(try await Program().run("extract", "--root", root, file).objects.first)
      let inspection = try await Program().run("receipt", "inspect", "--json", "--root", root, file)
      let inspected = try #require(try inspection.objects.first)
      for member in line.members where !["line", "app", "userId", "purchases"].contains(member.key) {
        #expect(inspected[member.key] == member.value, "\(member.key)")
      }
      let purchases = inspected["purchases"]?.array ?? []
      #expect(purchases.count == line["purchases"]?.array?.count)
      for (ours, theirs) in zip(line["purchases"]?.array ?? [], purchases) {
        for member in ours.object?.members ?? [] {
          #expect(theirs.object?[member.key] == member.value, "\(member.key)")
        }
        #expect(ours.object?.members.count == 12)
      }
    }
  }

  @Test func `makes the same world for the same seed, verifiable with what it says to trust`() async throws {
    let (one, two) = (TemporaryDirectory(), TemporaryDirectory())
    let first = try await Self.world(9, in: one)
    let second = try await Self.world(9, in: two)
    #expect(Program.text("\(first)/truth.jsonl") == Program.text("\(second)/truth.jsonl"))
    let world = try #require(try JSONReader.read(Array(Program.text("\(first)/world.json").utf8)).object)
    #expect(world["apps"]?.array?.compactMap { $0.object?["bundleId"]?.string } == ["com.example.a", "com.example.b"])
    for app in world["apps"]?.array ?? [] {
      #expect(app.object?["appAppleId"]?.integer != nil)
      #expect(app.object?["sharedSecret"]?.string?.utf8.count == 32)
    }
    let root = try #require(world["rootDER"]?.string.flatMap { Base64.standard.decode(Array($0.utf8)) })
    let verified = try await Program().run(
      "jws", "verify", "--json", "--root", one.file("v2.der", root), "\(first)/notifications.jsonl")
    #expect(verified.status == 0)
    let ids = try verified.objects.map { $0["transaction"]?.object?["originalTransactionId"]?.string }
    let truth = try Self.objects("\(first)/truth.jsonl").compactMap {
      $0["transaction"]?.object?["originalTransactionId"]?.string
    }
    #expect(Set(ids) == Set(truth))
  }

  @Test func `tells by its exit status what became of the rows`() async throws {
    let place = TemporaryDirectory()
    let broken = place.file("broken", Array("app,user_id,receipt\n,7,n/a!\n".utf8))
    let rejects = "\(place.path)/rejects"
    let run = try await Program().run("extract", "--rejects", rejects, broken)
    #expect(run.status == 3)
    #expect(run.output == "")
    #expect(run.notes.hasPrefix("1 in = 0 usable + 0 duplicates + 1 rejected"))
    #expect(Program.text(rejects) == "app,user_id,receipt,reason\n,7,n/a!,notBase64\n")
    #expect(try await Program().run("extract", "-", input: Array("n/a!\n".utf8)).status == 3)
    #expect(try await Program().run("extract", "\(place.path)/nothing").status == 1)
    #expect(try await Program().run("extract", "--rejects", broken, broken).status == 2)
    #expect(Program.text(broken).utf8.count > 20, "the input is never overwritten")
    #expect(try await Program().run("extract", "--unverified", "--root", broken, broken).status == 2)
    #expect(try await Program().run("extract", "--format", "xml", broken).status == 2)
    #expect(try await Program().run("extract").status == 2)
    #expect(try await Program().run("simulate", "--generate").status == 2)
    #expect(try await Program().run("simulate", "--generate", "--app", "a b", "--out", place.path).status == 2)
    #expect(try await Program().run("extract", "-").status == 0, "nothing in, nothing out")
    let cut = place.file("cut.gz", [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF, 0])
    let ended = try await Program().run("extract", "--json", cut)
    #expect(ended.status == 1)
    #expect(ended.notes.contains(#""complete":false"#))
  }

  @Test func `says where a table is damaged`() async throws {
    let place = TemporaryDirectory()
    let table = place.file("t.csv", Array("user_id,receipt\n1,n/a!\n2,\"n/a!\n3,n/a!\n4,\"n/a!\"\n5\n6\n".utf8))
    let run = try await Program().run("extract", table)
    #expect(run.status == 3)
    let damage = """

      lines 3 to 5: a quote is missing or extra, all rejected
      line 6 is the first with another number of fields than the header: 1 instead of 2
      """
    #expect(run.notes.hasSuffix("\(damage)\n"), "\(run.notes)")
    let summary = try JSONReader.read(Array(try await Program().run("extract", "--json", table).notes.utf8)).object
    #expect(summary?["doubtfulSpans"] == 1)
    #expect(summary?["doubtfulLines"] == [["firstLine": 3, "lastLine": 5]])
    #expect(summary?["firstMisfit"] == ["line": 6, "fields": 1, "expected": 2])
  }

  @Test func `writes the rejects of a folder file by file`() async throws {
    let (input, place) = (TemporaryDirectory(), TemporaryDirectory())
    let table = Array("user_id,receipt\n7,n/a!\n".utf8)
    _ = input.file("a.csv", table)
    // Whether a file is compressed is told by its content.
    _ = input.file("b.csv.gz", table)
    let more = "\(input.path)/more"
    #expect(FileMetadata.makeDirectory(more))
    _ = input.file("more/a.csv", Array("n/a!\n".utf8))
    let rejects = "\(place.path)/rejects"
    #expect(try await Program().run("extract", "--rejects", rejects + "/", input.path).status == 3)
    let expected = "user_id,receipt,reason\n7,n/a!,notBase64\n"
    #expect(Program.text("\(rejects)/a.csv") == expected)
    #expect(Program.text("\(rejects)/b.csv") == expected)
    #expect(Program.text("\(rejects)/more/a.csv") == "n/a!\tnotBase64\n")
    // What is read is never written to, nor what an earlier run wrote.
    for wrong in [input.path, more, "\(input.path)/a.csv", "\(input.path)/new", "\(more)/new/"] {
      #expect(try await Program().run("extract", "--rejects", wrong, input.path).status == 2, "\(wrong)")
    }
    #expect(Program.text("\(input.path)/a.csv") == String(decoding: table, as: UTF8.self))
    let again = try await Program().run("extract", "--rejects", rejects, input.path)
    #expect(again.status == 1)
    #expect(again.notes.contains("is not empty"))
    #expect(try await Program().run("extract", "--rejects", "\(place.path)/all", input.path).status == 3)
    #expect(Program.text("\(place.path)/all").split(separator: "\n").count == 3)
  }

  /// Files that differ in the suffix of compression alone keep their names, also where they are not compressed.
  @Test func `keeps the rejects of every file of a folder`() async throws {
    let (input, place) = (TemporaryDirectory(), TemporaryDirectory())
    for (user, name) in ["a.csv.gz", "a.csv.gzip", "b.gz", "b.zst", "b.zstd", "c", "c.gz", "d.gz"].enumerated() {
      _ = input.file(name, Array("user_id,receipt\n\(user),n/a!\n".utf8))
    }
    let rejects = "\(place.path)/rejects"
    #expect(try await Program().run("extract", "--rejects", rejects + "/", input.path).status == 3)
    for (user, name) in ["a.csv.gz", "a.csv.gzip", "b.gz", "b.zst", "b.zstd", "c", "c.gz", "d"].enumerated() {
      #expect(Program.text("\(rejects)/\(name)") == "user_id,receipt,reason\n\(user),n/a!,notBase64\n", "\(name)")
    }
  }
}
