@Suite struct `The story of two apps` {
  private let story = Story.twoApps(seed: 42, start: Bench.start)

  private func messages() throws -> [Story.Message] { try story.told(by: Bench.pki, forger: Bench.forger) }

  @Test func `is long enough to show everything and short enough to be read`() {
    #expect((25...50).contains(story.scenes.count))
    #expect(Set(story.scenes.map(\.caption)).count == story.scenes.count)
    #expect(story.apps.count == 2)
    #expect(story.scenes.allSatisfy { $0.caption.count < 100 })
  }

  /// Whether a message is known already or of a registered app is not the adapter's to tell: done here as a service does.
  @Test func `turns out as it promises`() throws {
    let adapter = try Bench.adapter()
    var seen: Set<[UInt8]> = []
    for message in try messages() {
      let outcome: Story.Expectation
      do throws(MessageError) {
        let reading = try adapter.read(message.body)
        #expect(reading.survey.isClean, "\(message.caption): \(reading.survey)")
        if !story.apps.map(\.bundleID).contains(reading.app) {
          outcome = .quarantined("unknownApp")
        } else {
          outcome = seen.insert(message.body).inserted ? .stored : .duplicate
        }
      } catch {
        switch error.kind {
        case .unreadable: outcome = .refused(error.code)
        case .unproven, .authentic, .legacy: outcome = .quarantined(error.code)
        }
      }
      #expect(outcome == message.expectation, "\(message.number) \(message.caption)")
    }
  }

  @Test func `has one of each kind of wrong message`() {
    let wrong = story.scenes.map(\.expectation).filter { $0 != .stored }
    #expect(Set(wrong).count == wrong.count)
    #expect(wrong.count == 7)
  }

  @Test func `lets a downgrade arrive after the renewal that it decided`() throws {
    let dates = story.scenes.compactMap { $0.expectation == .stored ? $0.draft?.signedDate : nil }
    #expect(zip(dates, dates.dropFirst()).filter { $0 > $1 }.count == 1)
  }

  @Test func `tells each notification's meaning as the adapter understands it`() throws {
    let adapter = try Bench.adapter()
    for message in try messages() where message.expectation == .stored {
      let reading = try adapter.read(message.body)
      let notification = try #require(message.notification)
      let event = try #require(reading.findings.events.first)
      #expect(event.notificationType == notification.notificationType)
      #expect(event.subtype == notification.subtype)
      #expect(event.notificationUUID == notification.notificationUUID)
      #expect(event.originalTransactionID == notification.originalTransactionID)
      #expect(event.transactionID == notification.transactionID)
      #expect(event.rule != nil, "\(notification.title) is in no row of events.tsv")
      #expect(reading.signedAt == notification.signedDate)
      #expect(reading.app == notification.bundleID)
    }
  }

  @Test(arguments: [
    ("Anna", SubscriptionStatus.active), ("Ben", .expired), ("Carla", .active), ("Dev", .active), ("Emil", .active),
    ("Fay", .revoked), ("Hana", .expired),
  ])
  func `ends for each customer as it was told`(name: String, expected: SubscriptionStatus) throws {
    let findings = try read(of: name)
    let purchases = Purchase.fold(findings.flatMap(\.purchases), rules: Vocabulary.embedded.purchases.rules)
    let renewal = Resolved(findings.flatMap(\.renewals), rules: Vocabulary.embedded.renewals.rules)
    let key = try #require(findings.first?.renewals.first?.key)
    let subscription = try #require(Subscription(key: key, purchases: purchases, renewal: renewal))
    #expect(subscription.status(at: Bench.start + .days(160)) == expected)
  }

  @Test func `grants Ben access again when his refund is reversed`() throws {
    let findings = try read(of: "Ben")
    let rules = Vocabulary.embedded.purchases.rules
    let told = findings.firstIndex { $0.events.first?.notificationType == "REFUND" } ?? 0
    let refunded = Purchase.fold(findings[...told].flatMap(\.purchases), rules: rules)
    let reversed = Purchase.fold(findings.flatMap(\.purchases).reversed(), rules: rules)
    #expect(refunded.last?.revocationDate != nil)
    #expect(reversed.last?.revocationDate == nil)
  }

  /// What the good messages about a customer teach, in the order of arrival.
  private func read(of name: String) throws -> [Findings] {
    let adapter = try Bench.adapter()
    let about = try messages().filter { $0.expectation == .stored && $0.caption.hasPrefix("\(name) ") }
    let original = about.first?.notification?.originalTransactionID
    return try messages().filter {
      $0.expectation == .stored && $0.notification?.originalTransactionID == original
    }.map { try adapter.read($0.body).findings }
  }
}
