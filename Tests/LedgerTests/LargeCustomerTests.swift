@testable import Ledger

/// A ledger on one connection, whose statements are counted by the server.
private struct Counted {
  let pool: Pool
  let ledger: LedgerStore
  let app: App

  init() async throws {
    var settings = Pool.Settings()
    settings.size = 1
    pool = Pool(try await PrivateMariaDB.shared.database(), settings: settings)
    ledger = LedgerStore(pool: pool)
    app = try await pool.read { session throws(DatabaseError) in
      _ = try Migrator().migrate(at: LargeCustomer.start, in: session)
      return try AppTable.add(bundleID: SignedStory.app, appAppleID: nil, at: LargeCustomer.start, in: session)
    }
  }

  static func with(_ body: (Counted) async throws -> Void) async throws {
    let counted = try await Counted()
    do { try await body(counted) } catch {
      await counted.pool.close()
      throw error
    }
    await counted.pool.close()
  }

  func append(_ findings: [Findings]) async throws {
    let entries = findings.map { findings in
      let message = InboxMessage(kind: .notification, body: .random(count: 16), receivedAt: LargeCustomer.start)
      return LedgerEntry(
        message,
        .accepted(LedgerEntry.AcceptedMessage(app: app.id, findings: findings, signedAt: nil, title: "notification")))
    }
    #expect(try await ledger.append(entries).allSatisfy { $0 == .stored })
  }

  /// Has a customer of `count` purchases taken in.
  func append(_ customer: LargeCustomer, _ count: Int) async throws {
    for start in stride(from: 0, to: count, by: 200) {
      try await append([customer.findings(start..<min(start + 200, count))])
    }
  }

  /// Rows that the server reads, or writes, and statements that it runs for `work`.
  func cost(of work: () async throws -> Void) async throws -> Cost {
    let before = try await cost()
    try await work()
    let after = try await cost()
    return Cost(read: after.read - before.read, written: after.written - before.written)
  }

  struct Cost {
    var read = 0
    var written = 0
  }

  private func cost() async throws -> Cost {
    try await pool.read { session throws(DatabaseError) in
      var cost = Cost()
      for row in try session.query("SHOW SESSION STATUS LIKE 'Handler_%'") {
        guard let count = Int(try row.text(1)) else { continue }
        switch try row.text(0) {
        case "Handler_read_first", "Handler_read_key", "Handler_read_last", "Handler_read_next", "Handler_read_prev",
          "Handler_read_rnd", "Handler_read_rnd_next":
          cost.read += count
        case "Handler_write", "Handler_update", "Handler_delete": cost.written += count
        default: break
        }
      }
      return cost
    }
  }
}

@Suite struct `A customer of many purchases in the ledger` {
  @Test(arguments: LargeCustomer.Shape.allCases)
  func `costs one more notification or claim no more rows than a customer of ten`(shape: LargeCustomer.Shape)
    async throws
  {
    try await Counted.with { counted in
      let (small, large) = (
        LargeCustomer(shape, of: SignedStory.app, name: 1), LargeCustomer(shape, of: SignedStory.app, name: 2)
      )
      try await counted.append(small, 10)
      try await counted.append(large, 600)
      let news: [(String, (LargeCustomer) -> Findings)] = [
        ("a later purchase", { $0.findings(5_000) }),
        ("a purchase whose ID sorts before all others", { $0.findings(5_001, original: "1\($0.name)0000000") }),
        ("a known purchase", { $0.findings(0) }),
        ("a claim that is not signed", { $0.findings(6_000, source: .notificationV1) }),
        ("a claim that is known", { $0.findings(0, source: .notificationV1) }),
      ]
      for (name, findings) in news {
        let (few, many) = (
          try await counted.cost { try await counted.append([findings(small)]) },
          try await counted.cost { try await counted.append([findings(large)]) }
        )
        // A deeper index is read in the same number of rows. The server reads a few rows for itself.
        #expect(many.read <= few.read + 40, "\(name): \(few) at 10, \(many) at 600")
        #expect(many.written <= few.written + 5, "\(name): \(few) at 10, \(many) at 600")
      }
      let open = try await counted.pool.read { session throws(DatabaseError) in
        try UnconfirmedChangeTable.depths(in: session).values.map(\.open)
      }
      #expect(open == [2])
    }
  }

  @Test func `whose ids are all being asked about is read at a cost in proportion, with each look-up`() async throws {
    try await Counted.with { counted in
      let (small, large) = (
        LargeCustomer(.linked, of: SignedStory.app, name: 1), LargeCustomer(.linked, of: SignedStory.app, name: 2)
      )
      try await counted.append(small, 200)
      try await counted.append(large, 1_200)
      _ = try await counted.pool.transaction { session throws(DatabaseError) in
        _ = try session.execute(
          "INSERT INTO credentials (app, kind, name, issuer, sealed, created_at) SELECT id, 'apiKey', 'K', 'I', '', 1 FROM apps"
        )
        _ = try session.execute(
          """
          INSERT INTO claimed_changes SELECT app, environment, original_transaction_id, 1, 2, 1, 1, message, '' FROM purchases
          """)
        return try session.execute(
          """
          INSERT INTO work (app, environment, kind, subject, is_again, attempts, created_at, due_at, reason)
          SELECT app, environment, 2, original_transaction_id, 1, 4, 1, 2, 'serverFailed 500' FROM claimed_changes
          """)
      }
      func cost(_ customer: LargeCustomer, _ count: Int) async throws -> Int {
        try await counted.cost {
          let found = try await counted.ledger.dossiers(
            of: customer.appTransactionID, app: counted.app, extent: .customers)
          let lookUps = try #require(found.first?.lookUps)
          #expect(lookUps.count == count && lookUps.values.allSatisfy { $0.failure == "serverFailed 500" })
        }.read
      }
      let (few, many) = (try await cost(small, 200), try await cost(large, 1_200))
      #expect(many <= 12 * few, "\(few) rows for 200, \(many) for 1,200")
    }
  }

  @Test func `that joins a small one moves what waits for the small one to its back end alone`() async throws {
    try await Counted.with { counted in
      let large = LargeCustomer(.linked, of: SignedStory.app, name: 2)
      let small = LargeCustomer(.linked, of: SignedStory.app, name: 1)
      try await counted.append(large, 600)
      try await counted.append(small, 20)
      let label = try await counted.pool.transaction { session throws(DatabaseError) in
        func label(_ customer: LargeCustomer) throws(DatabaseError) -> String {
          let node = "o" + customer.transactionID(0)
          return try session.query("SELECT label FROM customers WHERE node = \(node)").first?.text(0) ?? ""
        }
        let (kept, lost) = (try label(large), try label(small))
        _ = try session.execute(
          """
          INSERT INTO destinations (app, environment, name, url, form, enabled, created_at, changed_at)
          SELECT DISTINCT app, environment, 'legacy', 'http://127.0.0.1/', 'original', 1, 1, 1 FROM customers
          """)
        for (label, first) in [(kept, 1), (lost, 10_001)] {
          _ = try session.execute(
            """
            INSERT INTO outbox_keys (destination, customer, class, sequence, enqueued_at)
            SELECT id, \(label), 1, seq, 1 FROM destinations JOIN \(SQL.numbers(20_000)) WHERE seq BETWEEN \(first) AND \(first + 599)
            """)
        }
        return kept
      }
      var findings = Findings(app: SignedStory.app, environment: .sandbox)
      findings.links = [
        CustomerLink(
          app: SignedStory.app, environment: .sandbox, .originalTransactionID(large.transactionID(7)),
          .originalTransactionID(small.transactionID(7)))
      ]
      let joining = findings
      _ = try await counted.cost { try await counted.append([joining]) }
      let keys = try await counted.pool.read { session throws(DatabaseError) in
        try session.query("SELECT customer, COUNT(*) AS count FROM outbox_keys GROUP BY customer").map {
          row throws(DatabaseError) in (try row.text("customer"), try row.int("count"))
        }
      }
      #expect(keys.count == 1 && keys.first?.0 == label && keys.first?.1 == 1_200)
    }
  }

  /// In pages of 20, as Apple's histories come; in descending order each id sorts before all that are known.
  @Test(arguments: ["ascending", "descending", "any"])
  func `is joined page by page at a cost in proportion, whatever the order`(order: String) async throws {
    var random = SeededRandom()
    func pages(_ customer: LargeCustomer, _ count: Int) -> [Findings] {
      let places =
        switch order {
        case "ascending": Array(0..<count)
        case "descending": Array((0..<count).reversed())
        default: Array(0..<count).shuffled(using: &random)
        }
      return stride(from: 0, to: count, by: 20).map { start in
        let page = places[start..<start + 20]
        var all = Findings(app: customer.app, environment: customer.environment)
        for place in page { all.add(customer.findings(place)) }
        // The purchases of one answer are of one customer.
        all.links += page.dropFirst().map { place in
          CustomerLink(
            app: customer.app, environment: customer.environment,
            .originalTransactionID(customer.originalTransactionID(page[page.startIndex])),
            .originalTransactionID(customer.originalTransactionID(place)))
        }
        return all
      }
    }
    let (few, many) = (
      pages(LargeCustomer(.linked, of: SignedStory.app, name: 1), 100),
      pages(LargeCustomer(.linked, of: SignedStory.app, name: 2), 600)
    )
    try await Counted.with { counted in
      func cost(_ pages: [Findings]) async throws -> Counted.Cost {
        try await counted.cost { for page in pages { try await counted.append([page]) } }
      }
      let (small, large) = (try await cost(few), try await cost(many))
      #expect(large.written <= 7 * small.written, "\(small), \(large), seed \(random.seed)")
      #expect(large.read <= 7 * small.read, "\(small), \(large), seed \(random.seed)")
    }
  }

  @Test func `that joins another gives its label or takes it, whichever is less to write`() async throws {
    for isLargeSmallest in [true, false] {
      try await Counted.with { counted in
        let large = LargeCustomer(.linked, of: SignedStory.app, name: isLargeSmallest ? 1 : 2)
        let small = LargeCustomer(.linked, of: SignedStory.app, name: isLargeSmallest ? 2 : 1)
        try await counted.append(large, 1_000)
        try await counted.append(small, 30)
        var findings = Findings(app: SignedStory.app, environment: .sandbox)
        findings.links = [
          CustomerLink(
            app: SignedStory.app, environment: .sandbox, .originalTransactionID(large.transactionID(7)),
            .originalTransactionID(small.transactionID(7)))
        ]
        let joining = findings
        let cost = try await counted.cost { try await counted.append([joining]) }
        // MySQL counts the rows of temporary tables, too.
        let most = try await counted.pool.read { session throws(DatabaseError) in
          session.serverVersion.contains("MariaDB") ? 100 : 300
        }
        #expect(cost.written < most && cost.read < 700, "\(cost)")
        let found = try await counted.ledger.dossiers(
          of: small.transactionID(3), app: counted.app, extent: .customers)
        // Called by the smallest member, whatever the label is.
        let (a, b) = (large.transactionID(0), small.transactionID(0))
        #expect(found.first.map { Array($0.customers.keys) } == ["o" + min(a, b)])
        #expect(found.first?.customers.values.first?.count == 1_000 + 30 + 2)
        #expect(found.first?.purchases.count == 1_030)
      }
    }
  }

  /// Labels depend on the order in which links came; what is shown and dumped does not.
  @Test func `is dumped the same whatever the order in which it was joined`() async throws {
    var random = SeededRandom()
    let customers = (1...3).map { LargeCustomer(.linked, of: SignedStory.app, name: $0) }
    var links = [
      CustomerLink(
        app: SignedStory.app, environment: .sandbox, .originalTransactionID(customers[2].transactionID(0)),
        .originalTransactionID(customers[0].transactionID(19)))
    ]
    for customer in customers {
      links += (0..<20).map { place in
        CustomerLink(
          app: SignedStory.app, environment: .sandbox, .originalTransactionID(customer.transactionID(place)),
          place.isMultiple(of: 3)
            ? .appTransactionID(customer.appTransactionID)
            : .originalTransactionID(customer.transactionID(max(0, place - 1))))
      }
    }
    var (dumps, labels): ([[String]], [[String]]) = ([], [])
    for round in 0..<4 {
      try await Counted.with { counted in
        let order = round == 0 ? links : links.shuffled(using: &random)
        for link in order {
          var findings = Findings(app: SignedStory.app, environment: .sandbox)
          findings.links = [link]
          try await counted.append([findings])
        }
        let (dump, labeled) = try await counted.pool.read { session throws(DatabaseError) in
          var lines: [String] = []
          try CanonicalDump.write(from: session) { lines.append(String(decoding: $0.encoded(), as: UTF8.self)) }
          // Each label is a member of its own customer, with itself as its label.
          let strays = try session.query(
            """
            SELECT c.node FROM customers c LEFT JOIN customers l
            ON l.app = c.app AND l.environment = c.environment AND l.node = c.label
            WHERE l.label IS NULL OR l.label <> l.node
            """)
          #expect(strays.isEmpty)
          let rows = try session.query("SELECT DISTINCT label FROM customers ORDER BY label")
          return (lines, try rows.map { row throws(DatabaseError) in try row.text(0) })
        }
        dumps.append(dump.filter { $0.hasPrefix(#"{"customer""#) })
        labels.append(labeled)
      }
    }
    #expect(dumps[0].count == 3 * 21 && Set(dumps[0]).count == dumps[0].count)
    for dump in dumps { #expect(dump == dumps[0], "seed \(random.seed)") }
    #expect(labels.allSatisfy { $0.count == 2 })
  }

  @Test(arguments: LargeCustomer.Shape.allCases)
  func `is read at a cost in proportion, by any id that leads to it`(shape: LargeCustomer.Shape) async throws {
    try await Counted.with { counted in
      let (small, large) = (
        LargeCustomer(shape, of: SignedStory.app, name: 1), LargeCustomer(shape, of: SignedStory.app, name: 2)
      )
      try await counted.append(small, 200)
      try await counted.append(large, 1_200)
      for id in [\LargeCustomer.appTransactionID, \.accountToken] {
        func cost(_ customer: LargeCustomer, _ extent: LedgerStore.Extent, _ count: Int) async throws -> Int {
          try await counted.cost {
            let found = try await counted.ledger.dossiers(of: customer[keyPath: id], app: counted.app, extent: extent)
            #expect(found.first?.purchases.count == count && found.first?.events.count == count)
          }.read
        }
        for extent in [LedgerStore.Extent.purchases, .customers] {
          let (few, many) = (try await cost(small, extent, 200), try await cost(large, extent, 1_200))
          // In proportion 6. It would be 18 if each of the three pieces read the whole customer, and 36 if each purchase did.
          #expect(many <= 12 * few, "\(few) rows for 200, \(many) for 1,200")
        }
      }
      let original = large.originalTransactionID(0)
      let known = try await counted.cost {
        let known = try await counted.ledger.purchased([original, "none"], app: counted.app, environment: .sandbox)
        #expect(known == [original])
      }
      #expect(known.read < 20, "\(known)")
      let isKnown = try await counted.cost {
        let app = counted.app.id
        let isKnown = try await counted.pool.read { session throws(DatabaseError) in
          try LedgerStore.knows(
            large.appTransactionID, as: [.appTransactionID], in: AppScope(app: app, environment: .sandbox), session)
        }
        #expect(isKnown)
      }
      #expect(isKnown.read < 20, "\(isKnown)")
    }
  }

  @Test func `is not read whole where only a small one is asked for`() async throws {
    try await Counted.with { counted in
      for shape in LargeCustomer.Shape.allCases {
        let customer = LargeCustomer(shape, of: SignedStory.app, name: shape == .linked ? 1 : 2)
        try await counted.append(customer, 700)
        let id = customer.transactionID(0)
        func small(_ rows: Int) async throws -> [CustomerRecord]? {
          let app = counted.app
          return try await counted.pool.read { session throws(DatabaseError) in
            let matches = try LedgerStore.matches(of: id, app: app, extent: .customers, in: session)
            return try LedgerStore.dossiers(of: matches, app: app, atMost: rows, in: session)
          }
        }
        #expect(try await small(100) == nil)
        let whole = try await small(1_000)
        // More than one piece of originalTransactionIds is never small.
        #expect(whole?.first?.purchases.count == (shape == .linked ? nil : 700))
      }
      let app = counted.app
      let nobody = try await counted.pool.read { session throws(DatabaseError) in
        try LedgerStore.matches(of: "nobody", app: app, extent: .customers, in: session).count
      }
      #expect(nobody == 0)
    }
  }
}
