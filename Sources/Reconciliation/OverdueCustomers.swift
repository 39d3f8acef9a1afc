import Time

/// The customers of whom something should have been heard; asked about are those first of whom nothing was for longest.
///
/// Whoever was asked about goes behind the others, whatever Apple said: however many there are, everybody's turn comes.
struct OverdueCustomers {
  private struct Customer {
    /// One of their originalTransactionIds.
    var original: String
    /// When something was said of them or Apple asked for the last time; or is asked next, of who waits for that.
    var lastNews: Timestamp

    func isBefore(_ other: Customer) -> Bool { (lastNews, original) < (other.lastNews, other.original) }
  }

  private let limit: Int
  private var kept: [String: Customer] = [:]
  /// Those of whom there was news later than of `limit` others.
  private var passedOver = 0

  /// - Parameter limit: customers who are asked about at most.
  init(atMost limit: Int) { self.limit = limit }

  /// How many there are; one who was passed over and has ids far apart may count twice.
  var count: Int { kept.count + passedOver }

  /// The id to ask by of each who is asked about, in order.
  var chosen: [String] { kept.values.sorted { $0.isBefore($1) }.prefix(limit).map(\.original) }

  mutating func add(_ customer: String, askedBy original: String, lastNews: Timestamp) {
    if var known = kept[customer] {
      // Of all their purchases together.
      known.lastNews = max(known.lastNews, lastNews)
      kept[customer] = known
      return
    }
    kept[customer] = Customer(original: original, lastNews: lastNews)
    // Now and then, so that memory does not grow with the app.
    if kept.count > 2 * limit + 1_000 { prune() }
  }

  private mutating func prune() {
    let ordered = kept.sorted { $0.value.isBefore($1.value) }
    for (customer, _) in ordered.dropFirst(limit) { kept[customer] = nil }
    passedOver += ordered.count - limit
  }
}
