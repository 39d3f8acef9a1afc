import Database
import Purchases

/// What stands in the tables below some originalTransactionIds.
struct CustomerRows {
  let purchases: [PurchaseStatement]
  let renewals: [RenewalStatement]
  let events: [Event]
  let attributions: [AccountAssociation]
  /// Whether more is claimed than was read.
  let claimsAreCut: Bool

  /// Rows of the longest of them.
  var longest: Int { max(purchases.count, renewals.count, events.count, attributions.count) }

  /// The first rows of each, signed or not.
  init(
    below match: IDResolution, piece: Int, app: App, atMost limit: Int, in session: borrowing Session
  ) throws(DatabaseError) {
    let (below, names) = (Self.condition(match, piece, app), [app.id: app.bundleID])
    purchases = try PurchaseTable.read(below, bundleIDs: names, atMost: limit, in: session)
    renewals = try RenewalTable.read(below, bundleIDs: names, atMost: limit, in: session)
    events = try EventTable.read(below, bundleIDs: names, atMost: limit, in: session)
    attributions = try AccountAssociationTable.read(below, atMost: limit, in: session)
    claimsAreCut = false
  }

  /// As much of each as the bound allows.
  ///
  /// Of renewals there is one for each source, whatever anybody claims.
  init(
    below match: IDResolution, piece: Int, app: App, within bound: ReadLimit, in session: borrowing Session
  ) throws(DatabaseError) {
    let (below, names) = (Self.condition(match, piece, app), [app.id: app.bundleID])
    var bound = bound
    purchases = try PurchaseTable.read(below, bundleIDs: names, within: &bound, in: session)
    renewals = try RenewalTable.read(below, bundleIDs: names, in: session)
    events = try EventTable.read(below, bundleIDs: names, within: &bound, in: session)
    attributions = try AccountAssociationTable.read(below, within: &bound, in: session)
    claimsAreCut = bound.isCut
  }

  private static func condition(_ match: IDResolution, _ piece: Int, _ app: App) -> SQL {
    """
    WHERE app = \(app.id.number) AND environment = \(match.environment.code)
    AND original_transaction_id IN (\(list: match.pieces[piece]))
    """
  }
}
