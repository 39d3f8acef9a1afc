package struct Storefront: Hashable, Sendable {
  /// ISO 3166-1 alpha-3.
  package let code: String
  package let id: String
  package let currency: String
  /// The approximate local price of a dollar; prices are rounded to whole tenths of the unit.
  private let rate: Int64

  package static let unitedStates = Self(code: "USA", id: "143441", currency: "USD", rate: 1)
  package static let germany = Self(code: "DEU", id: "143443", currency: "EUR", rate: 1)
  package static let unitedKingdom = Self(code: "GBR", id: "143444", currency: "GBP", rate: 1)
  package static let japan = Self(code: "JPN", id: "143462", currency: "JPY", rate: 150)
  package static let brazil = Self(code: "BRA", id: "143503", currency: "BRL", rate: 5)

  package static let all = [unitedStates, germany, unitedKingdom, japan, brazil]

  /// Converts thousandths of a dollar to thousandths of the local unit.
  package func price(_ dollars: Int64) -> Int64 { rate == 1 ? dollars : (dollars * rate + 5_000) / 10_000 * 10_000 }
}
