import Database
import Purchases

struct CustomerRows {
  let purchases: [PurchaseStatement]
  let renewals: [RenewalStatement]
  let events: [Event]
  let attributions: [AccountAssociation]
  let claimsAreCut: Bool

  var longest: Int { max(purchases.count, renewals.count, events.count, attributions.count) }

  /// Reads the first rows of each table, signed or not.
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

  /// Reads the rows of each table within the limit.
  ///
  /// Renewals have one row for each source, regardless of claims.
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
