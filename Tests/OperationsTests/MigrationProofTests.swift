@testable import Operations

@Suite struct `The proof of a migration` {
  @Test(arguments: [(rejected: 0, isWhole: true), (rejected: 2, isWhole: false)])
  func `is about every receipt only where no row was rejected`(rejected: Int, isWhole: Bool) {
    var proof = MigrationVerification(mostImpact: 0.005, rejected: rejected, withoutPurchases: 0)
    proof.isWhole = true
    #expect(proof.json["everyReceipt"] == .bool(isWhole))
    #expect(proof.json["rejected"] == .integer(Int64(rejected)))
    #expect(proof.text.contains("2 rows of the migration rejected") == !isWhole, "\(proof.text)")
  }

  @Test(
    arguments: [
      ([], nil), ([.tooLarge, .namesNobody], nil), ([.noAnswer, .unproven, .unproven], .unproven),
      ([.failed, .unproven], .failed), ([.noAnswer, .noAnswer, .failed], .unanswered),
    ] as [([ShadowOutcome], MigrationVerification.Cause?)])
  func `names what kept the most receipts from being compared`(
    outcomes: [ShadowOutcome], cause: MigrationVerification.Cause?
  ) {
    var proof = MigrationVerification(mostImpact: 0.005, rejected: 0, withoutPurchases: 0)
    for outcome in outcomes { proof.noteNothing(outcome) }
    #expect(proof.cause == cause && proof.asked == outcomes.count)
    #expect(proof.json["cause"] == (cause.map { JSONValue.string($0.rawValue) } ?? .null))
  }

  @Test func `counts receipts of the other environment, and Apple's empty answers as unanswered`() {
    var proof = MigrationVerification(mostImpact: 0.005, rejected: 0, withoutPurchases: 0)
    for _ in 0..<3 { proof.note(nil) }
    for _ in 0..<2 { proof.noteNothing(.noAnswer) }
    #expect(proof.cause == .otherEnvironment && proof.unanswered == 2 && proof.notCompared == 3)
    proof.isSecretWrong = true
    #expect(proof.cause == nil)
  }

  @Test(arguments: [(withoutMessage: 3, skipped: 0), (withoutMessage: 7, skipped: 4)])
  func `says how many rows an earlier build stored`(withoutMessage: Int, skipped: Int) {
    var proof = MigrationVerification(mostImpact: 0.005, rejected: 0, withoutPurchases: 3)
    proof.noteWithoutMessage(withoutMessage)
    #expect(proof.json["skipped"] == .integer(Int64(skipped)))
    #expect(proof.text.contains("\(skipped) rows of the migration stored by an earlier build") == (skipped > 0))
  }
}
