/// Why what is known of a customer may not be all there is.
package enum StalenessReason: Hashable, Sendable {
  /// The receipt has no purchase by which the customer could be known.
  case noPurchases
  /// No history of Apple's ever held the id.
  case noHistory(String)
  /// The receipt proves a line that Apple's signed data does not have, and no history was asked since.
  case unknownLine(String)
  /// Apple links the id with the customer, and no history has held it.
  case notHeld(String)
  /// Apple is being asked, or is to be asked.
  case lookUpOpen
  /// The subscription should have renewed, and nobody said a word since.
  case silent(String)
  /// Nothing proven came in the last 25 hours.
  case noNews
  /// A heartbeat did not come back.
  case newsLost
  /// Notifications of a day after the history are missing or were refused.
  case gapSinceHistory
  /// What came was not compared with what Apple sent for two days.
  case notCompared

  /// One word for metrics, logs and programs.
  package var name: String {
    switch self {
    case .noPurchases: "noPurchases"
    case .noHistory: "noHistory"
    case .unknownLine: "unknownLine"
    case .notHeld: "notHeld"
    case .lookUpOpen: "lookUpOpen"
    case .silent: "silent"
    case .noNews: "noNews"
    case .newsLost: "newsLost"
    case .gapSinceHistory: "gapSinceHistory"
    case .notCompared: "notCompared"
    }
  }

  /// The originalTransactionId or line that it is about.
  package var id: String? {
    switch self {
    case .noHistory(let id), .unknownLine(let id), .notHeld(let id), .silent(let id): id
    case .noPurchases, .lookUpOpen, .noNews, .newsLost, .gapSinceHistory, .notCompared: nil
    }
  }

  /// For people.
  package var text: String {
    switch self {
    case .noPurchases: "the receipt has no purchase by which the customer could be known"
    case .noHistory(let id): "Apple's history of \(id) was never asked for"
    case .unknownLine(let line): "the receipt has line \(line), which no signed data has"
    case .notHeld(let id): "\(id) is linked with the customer, and no history has held it yet"
    case .lookUpOpen: "Apple was not asked about the customer yet"
    case .silent(let id): "\(id) should have renewed, and no notification was received since"
    case .noNews: "no heartbeat and no proven notification came in the last 25 hours"
    case .newsLost: "a TEST notification did not come back"
    case .gapSinceHistory: "notifications of a day after the history are missing or were refused"
    case .notCompared: "what came was not compared with Apple's history for two days"
    }
  }
}
