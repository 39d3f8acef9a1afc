@Suite struct `The status of an answer` {
  private let status = StatusDecision()

  private func findings(_ change: (inout RequestValidation) -> Void) -> RequestValidation {
    var found = RequestValidation(asked: .production, environment: .production)
    change(&found)
    return found
  }

  @Test func `is decided by nothing when everything is right`() {
    #expect(status.decide(findings { _ in })?.id == nil)
    #expect(status.decide(findings { $0.holdsSubscription = true })?.id == nil)
  }

  /// Each finding with everything that later checks could find: the first check decides.
  private static let inOrder:
    [(answer: ResponseStatusTable.Answer, change: @Sendable (inout RequestValidation) -> Void)] =
      [
        (.status(21_002), { $0.isJSON = false }), (.status(21_002), { $0.hasReceiptData = false }),
        (.status(21_003), { $0.refusal = .badSignature }), (.status(21_007), { $0.environment = .sandbox }),
        (.askApple(otherwise: 21_003), { $0.isRegistered = false }),
        (
          .status(21_004),
          {
            $0.holdsSubscription = true
            $0.secret = .wrong
          }
        ), (.status(21_010), { $0.isAccountGone = true }),
      ]

  @Test func `is decided by the first check that finds something`() {
    for (place, first) in Self.inOrder.enumerated() {
      let found = findings { found in for later in Self.inOrder[place...] { later.change(&found) } }
      #expect(status.decide(found)?.answer == first.answer)
    }
  }

  @Test func `is 21002 for what is no receipt, and 21003 for what nobody vouches for`() {
    let unreadable: Set<ReceiptError.Code> = [
      .empty, .tooLarge, .notBase64, .truncated, .notAReceipt, .tooDeep, .tooMany, .jwsGiven,
    ]
    // Neither stops a receipt from being answered: that it has no purchase, and of which app it is, others look at.
    for code in ReceiptError.Code.allCases where code != .noPurchases && code != .wrongBundle {
      let answer = status.decide(findings { $0.refusal = code })?.answer
      if code == .unknownSigner {
        #expect(answer == .askApple(otherwise: 21_003))
      } else {
        #expect(answer == .status(unreadable.contains(code) ? 21_002 : 21_003), "\(code)")
      }
    }
  }

  @Test func `sends receipts to their own environment`() {
    #expect(status.decide(findings { $0.environment = .sandbox })?.answer == .status(21_007))
    #expect(status.decide(findings { $0.asked = .sandbox })?.answer == .status(21_008))
    #expect(status.decide(findings { $0.environment = nil })?.answer == .askApple(otherwise: 21_003))
    let unnamed = findings {
      $0.environment = nil
      $0.signsNoEnvironment = true
    }
    #expect(status.decide(unnamed)?.answer == .askApple(otherwise: 21_005))
  }

  @Test func `needs no secret where there is no subscription`() {
    #expect(status.decide(findings { $0.secret = .wrong })?.id == nil)
    #expect(status.decide(findings { $0.secret = .noneRegistered })?.id == nil)
  }

  @Test func `is the body that Apple sends`() throws {
    #expect(StatusDecision.body(21_007, in: .production).encoded() == Array(#"{"status":21007}"#.utf8))
    #expect(StatusDecision.body(21_008, in: .sandbox).encoded() == Array(#"{"status":21008}"#.utf8))
    #expect(StatusDecision.body(21_003, in: .sandbox).encoded() == Array(#"{"status":21003}"#.utf8))
    for (name, code) in [("error_21007", Int64(21_007)), ("error_21009", 21_009), ("error_21104_retryable", 21_104)] {
      guard let bytes = Samples.bytes("verify_receipt/\(name).json") else { continue }
      var real = try #require(try JSONReader.read(bytes).object)
      // Java's class names help nobody, and nobody reads them.
      real["exception"] = nil
      let ours = StatusDecision.body(code, in: .production)
      #expect(Set(real.map(\.key)) == Set(ours.map(\.key)))
      for member in real { #expect(ours[member.key] == member.value, "\(name) \(member.key)") }
    }
  }
}
