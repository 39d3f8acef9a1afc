package import Signing
package import Time

/// Any number of different valid notifications of one app, for load and for properties.
///
/// The n-th is the same for the same seed and start. Customers come in groups, whose notifications take turns: what
/// arrives together is of many customers, and each one's come in their order.
package struct NotificationStream: Sendable {
  /// Customers of one group.
  private let customers: Int
  /// Notifications of each customer.
  private let length: Int
  private var blockSize: Int { customers * length }

  private let seed: UInt64
  private let app: SimulatedApp
  private let signer: PayloadSigner
  private let start: Milliseconds
  private var number = 0
  private var block: [NotificationDraft] = []

  /// Certificates must be valid for a year and a half from `start`.
  ///
  /// - Parameters:
  ///   - customers: of one group: so many notifications lie between two of one customer.
  ///   - length: notifications of each customer.
  package init(
    seed: UInt64, app: SimulatedApp, pki: ApplePKI, start: Milliseconds, customers: Int = 64, length: Int = 10
  ) throws(CertificateError) {
    self.seed = seed
    self.customers = customers
    self.length = length
    self.app = app
    signer = try PayloadSigner(pki)
    self.start = start
  }

  /// The next one; there is no end before 60 million.
  package mutating func next() throws(CertificateError) -> SignedNotification {
    let place = number % blockSize
    if place == 0 { block = drafts(ofBlock: number / blockSize) }
    number += 1
    return try block[place].signed(by: signer)
  }

  /// What `keep` makes of `count` notifications from the number `first` on, made on all cores, in their order.
  ///
  /// 14 KB each: whoever needs millions keeps something smaller of each.
  @concurrent package func generate<Kept: Sendable>(
    _ count: Int, from first: Int = 0, keeping keep: @escaping @Sendable (SignedNotification) -> Kept
  ) async throws -> [Kept] {
    let blocks = first / blockSize..<(first + count + blockSize - 1) / blockSize
    return try await withThrowingTaskGroup(of: (Int, [Kept]).self) { group in
      var made = [[Kept]](repeating: [], count: blocks.count)
      for index in blocks {
        group.addTask {
          (index, try self.drafts(ofBlock: index).map { draft in try keep(draft.signed(by: self.signer)) })
        }
      }
      for try await (index, run) in group { made[index - blocks.lowerBound] = run }
      return Array(made.joined().dropFirst(first % blockSize).prefix(count))
    }
  }

  /// `count` notifications from the number `first` on, whole.
  package func generate(_ count: Int, from first: Int = 0) async throws -> [SignedNotification] {
    try await generate(count, from: first) { $0 }
  }

  /// The notifications of one group of customers, not signed yet.
  func drafts(ofBlock index: Int) -> [NotificationDraft] {
    let lives = (0..<customers).map { customer in
      var life = RandomLife(number: index * customers + customer, seed: seed, app: app, start: start)
      return life.notifications(length)
    }
    return (0..<length).flatMap { turn in lives.map { $0[turn] } }
  }
}
