import Signing

/// IDs of a world in one environment.
///
/// An ID encodes its household, so that a world needs no index. Every household has a range of numbers, and every
/// number includes the IDs that restores create.
struct WorldIdentifiers: Hashable, Sendable {
  /// The number of households that can be found by ID.
  static let households = 1_000_000
  /// The number of households that IDs can be made for, without finding them by ID.
  static let mostHouseholds = 10_000_000
  /// The IDs of a household, enough for some hundred years of weekly renewals.
  static let slots = 100_000
  /// The restores of one purchase with different IDs.
  static let restores = 500

  private static let step: Int64 = 1_000
  private static let span = Int64(slots) * step
  private static let appTransaction: Int64 = 700_000_000_000_000_000

  let environment: AppStoreEnvironment
  private let base: Int64

  init(environment: AppStoreEnvironment, seed: UInt64) {
    var namespace = SplitMix64(seed: seed)
    // Production's IDs have 15 digits, the others' 16 and begin with 2, as in payloads of 2021 to 2026.
    let first: Int64 = environment == .production ? 100_000_000_000_000 : 2_000_000_000_000_000
    base = first + Int64(namespace.number(in: 0..<8)) * 100_000_000_000_000
    self.environment = environment
  }

  func id(_ slot: Int, of household: Int) -> Int64 {
    var jitter = SplitMix64(seed: UInt64(truncatingIfNeeded: base), part: household &* Self.slots &+ slot)
    return base + Int64(household) * Self.span + Int64(slot) * Self.step + Int64(jitter.number(in: 0..<400))
  }

  /// Returns the V1 transaction ID of a purchase's `number`-th restore, from 1; 0 returns the ID unchanged.
  func restored(_ id: Int64, _ number: Int) -> Int64 {
    guard number > 0 else { return id }
    let offset = id - base
    return base + offset - offset % Self.step + 400 + Int64(min(number, Self.restores))
  }

  func appTransactionID(of household: Int, _ member: Int) -> String {
    String(Self.appTransaction + id(member, of: household))
  }

  /// Finds the household of a transaction ID, restored ID or app transaction ID; `nil` for IDs outside this
  /// environment.
  func household(of text: String) -> Int? {
    guard var number = Int64(text) else { return nil }
    if number > Self.appTransaction { number -= Self.appTransaction }
    let offset = number - base
    guard offset >= 0, offset < Int64(Self.households) * Self.span else { return nil }
    return Int(offset / Self.span)
  }

  /// Returns the ID that `text` is, or was restored from.
  func original(of text: String) -> Int64? {
    guard let number = Int64(text), let household = household(of: text) else { return nil }
    return id(Int((number - base) % Self.span / Self.step), of: household)
  }

  private static let letters = Array("BCDFGHJKLMNPQRSTVWXYZ0123456789A".utf8)

  /// Returns the order ID on a customer's invoice, such as `MK5TTTVWJHQ`.
  func orderID(of id: Int64) -> String {
    var rest = UInt64(id - base)
    var text: [UInt8] = []
    for _ in 0..<10 {
      text.append(Self.letters[Int(rest & 31)])
      rest >>= 5
    }
    return "M" + String(decoding: text, as: UTF8.self)
  }

  /// Finds the transaction of an order; `nil` outside this environment.
  func transaction(ofOrder order: String) -> Int64? {
    let text = Array(order.utf8)
    guard text.count == 11, text[0] == UInt8(ascii: "M") else { return nil }
    var number: UInt64 = 0
    for letter in text[1...].reversed() {
      guard let digit = Self.letters.firstIndex(of: letter) else { return nil }
      number = number << 5 | UInt64(digit)
    }
    return base + Int64(number)
  }
}
