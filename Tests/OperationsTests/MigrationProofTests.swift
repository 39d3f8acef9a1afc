import JSON
import Testing

@testable import Operations

@Suite struct `The proof of a migration` {
  @Test(arguments: [(rejected: 0, isWhole: true), (rejected: 2, isWhole: false)])
  func `is about every receipt only where no row was rejected`(rejected: Int, isWhole: Bool) {
    var proof = MigrationProof(mostImpact: 0.005, rejected: rejected, withoutPurchases: 0)
    proof.isWhole = true
    #expect(proof.json["everyReceipt"] == .bool(isWhole))
    #expect(proof.json["rejected"] == .integer(Int64(rejected)))
    #expect(proof.text.contains("2 rows of the migration rejected") == !isWhole, "\(proof.text)")
  }
}
