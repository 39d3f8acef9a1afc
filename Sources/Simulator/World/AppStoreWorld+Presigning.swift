import Signing

extension AppStoreWorld {
  /// Signs the JWS of every transaction of these customers now, by ID, on all cores, some 4 KB each.
  ///
  /// For benchmarks of servers without the time of signing.
  @concurrent package func signedTransactions(
    of customers: [CustomerID], by signer: PayloadSigner
  ) async throws -> [String: [UInt8]] {
    let block = 64
    return try await withThrowingTaskGroup(of: [(String, [UInt8])].self) { group in
      for first in stride(from: 0, to: customers.count, by: block) {
        group.addTask {
          var signed: [(String, [UInt8])] = []
          for customer in customers[first..<Swift.min(first + block, customers.count)] {
            for purchase in transactions(of: customer) {
              let jws = try signer.sign(purchase.transaction.payload(signedAt: now))
              signed.append((purchase.transaction.transactionID, jws))
            }
          }
          return signed
        }
      }
      var all: [String: [UInt8]] = [:]
      for try await signed in group { all.merge(signed) { _, last in last } }
      return all
    }
  }
}
