package import Time

/// The position of a period within a longer commitment, such as a year paid by the month.
///
/// Apple: TransactionCommitmentInfo (App Store Server API 1.21). Apple does not document turning auto-renewal off
/// within a commitment. Here the customer pays until its end.
package struct Commitment: Hashable, Sendable {
  /// The number of the period, from 1.
  package var period: Int32
  package var periods: Int32
  package var expiresDate: Timestamp
  /// The price of all periods together, in thousandths of a US dollar.
  package var price: Int64

  /// Whether more payments follow in any case.
  package var isOpen: Bool { period < periods }
}

extension Product {
  /// Returns the commitment of a period that begins now; `nil` if the product has no commitment.
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
