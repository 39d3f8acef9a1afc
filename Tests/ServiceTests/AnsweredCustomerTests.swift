/// Which customer is answered about, by which receipt, and what that costs.
@Suite struct `Who is answered` {
  @Test func `an iOS 6 receipt gets the flat answer, once signed data names its environment`() async throws {
    let world = AnsweredWorld.world(customers: 20)
    try await AnsweringService.with(world, stage: "complete") { service in
      var codes: Set<Int64> = []
      for customer in AnsweredWorld.buyers(world) {
        for purchase in world.state(of: customer).legacyPurchases.prefix(2) {
          let request = AnsweringService.request(try service.transactionReceipt(of: purchase, customer))
          // Nothing signed names it in Production, where a free purchase would be a paid one.
          let elsewhere = try await service.ask(request, path: "/verifyReceipt")
          #expect(elsewhere.code != 0 || elsewhere.source == "apple")
          let ours = try await service.ask(request)
          let theirs = try await service.apple(request)
          #expect(ours.source == "ledger" || ours.source == "lookup", "\(ours)")
          let differences = AnsweredWorld.differences(ours.body, theirs).filter { difference in
            // Of another product than the one that was sent the item id is not known.
            !difference.contains("/item_id:") && !difference.hasPrefix("/receipt/")
          }
          #expect(differences == [], "\(customer)")
          if let code = ours.code { codes.insert(code) }
        }
      }
      #expect(codes == [0, 21_006])
    }
  }

  @Test func `an app that nobody registered is refused for strangers, and asked about for the operator's own`()
    async throws
  {
    let world = AnsweredWorld.world()
    let buyer = try #require(AnsweredWorld.buyers(world).first)
    try await AnsweringService.with(world, stage: "complete") { service in
      try await service.execute("UPDATE apps SET bundle_id = 'com.example.other'")
      let request = AnsweringService.request(try service.receipt(of: buyer), password: nil)
      let isStranger = try await eventually(within: .seconds(60)) { try await service.ask(request).code == 21_003 }
      #expect(isStranger)
      let known = try await service.ask(request, token: service.token)
      #expect(known.source == "apple")
    }
  }

  @Test func `tells subscriptions to a client whose certificate a trusted proxy names`() async throws {
    let world = AnsweredWorld.world()
    let buyer = try #require(AnsweredWorld.buyers(world).first { !world.state(of: $0).subscriptions.isEmpty })
    let proxy = try #require(Network("127.0.0.1/32"))
    let certificate = ReceiptPKI.stranger(at: AnsweringService.start).root.certificate.der
    let fingerprint = try #require(CertificateFingerprint(file: certificate))
    for isTrusted in [true, false] {
      try await AnsweringService.with(
        world, stage: "complete",
        {
          $0.answersKept = .milliseconds(0)
          $0.callers.certificateHeader = "X-Client-Certificate"
          if isTrusted { $0.callers.proxies = [proxy] }
        }
      ) { service in
        let request = AnsweringService.request(try service.receipt(of: buyer), password: nil)
        func ask(_ values: String..., token: String? = nil) async throws -> Int64? {
          try await service.ask(
            request, token: token,
            headers: [("X-Forwarded-For", "203.0.113.7")] + values.map { ("X-Client-Certificate", $0) }
          ).code
        }
        #expect(try await ask(fingerprint.digest.hex) == 21_004, "not registered")
        let now = world.now
        try await service.pool.transaction { session throws(DatabaseError) in
          guard let app = try AppTable.all(in: session).first else { throw DatabaseError(.column, "no app") }
          try TokenTable.accept(fingerprint, for: app, label: "gateway", at: now, in: session)
          try PolicyTable.set(answerClients: .token, of: app, at: now, in: session)
        }
        if isTrusted {
          let isTold = try await eventually(within: .seconds(60)) { try await ask(fingerprint.digest.hex) == 0 }
          #expect(isTold)
          #expect(try await ask("Hash=\(fingerprint.digest.hex)") == 0)
          #expect(try await ask(fingerprint.digest.hex, fingerprint.digest.hex) == 21_004, "two fields")
          #expect(try await ask(String(repeating: "0", count: 64)) == 21_004)
        } else {
          let isRead = try await eventually(within: .seconds(60)) {
            try await ask(token: service.token) == 0
          }
          #expect(isRead)
          #expect(try await ask(fingerprint.digest.hex) == 21_004, "anybody can write a header")
        }
        #expect(try await ask() == 21_004)
        // A fingerprint is no secret: as a token it opens nothing.
        for word in [fingerprint.digest.hex, "certificate\\n\(fingerprint.digest.hex)"] {
          #expect(try await ask(token: word) == 21_004)
        }
      }
    }
  }
}
