package import Time

/// Which payment of a longer commitment a period is: a year that is paid by the month.
///
/// Apple: TransactionCommitmentInfo (App Store Server API 1.21). What becomes of who turns auto-renewal off within one is
/// not documented: here they go on paying until it is over.
package struct Commitment: Hashable, Sendable {
  /// From 1.
  package var period: Int32
  package var periods: Int32
  package var expiresDate: Timestamp
  /// Of all periods together, in thousandths of a US dollar.
  package var price: Int64

  /// More payments follow in any case.
  package var isOpen: Bool { period < periods }
}

extension Product {
  /// The commitment of a period that begins now; nil: the product has none.
  ///
  /// - Parameter old: that of the period before, if this one renews it.
  func commitment(after old: Commitment?, from start: Timestamp, atPrice price: Int64) -> Commitment? {
    guard let commitmentPeriods, let period else { return nil }
    if var next = old, next.isOpen {
      next.period += 1
      return next
    }
    return Commitment(
      period: 1, periods: Int32(commitmentPeriods), expiresDate: period.times(commitmentPeriods).end(after: start),
      price: price * Int64(commitmentPeriods))
  }
}
