/// The reason why a customer's stored data may be incomplete.
package enum StalenessReason: Hashable, Sendable {
  /// The receipt has no purchase that identifies the customer.
  case noPurchases
  /// Apple's histories never contained the ID.
  case noHistory(String)
  /// The receipt proves a line that Apple's signed data lacks, and no history was requested since.
  case unknownLine(String)
  /// Apple links the ID with the customer, and no history contained it.
  case notHeld(String)
  /// A lookup at Apple is in flight or due.
  case lookUpOpen
  /// The subscription should have renewed, without any notification since.
  case silent(String)
  /// No proven message arrived in the last 25 hours.
  case noNews
  /// A heartbeat did not return.
  case newsLost
  /// Notifications of a day after the history are missing or were rejected.
  case gapSinceHistory
  /// Notifications were not compared with Apple's history for two days.
  case notCompared

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

  /// The originalTransactionId or line.
  package var id: String? {
    switch self {
    case .noHistory(let id), .unknownLine(let id), .notHeld(let id), .silent(let id): id
    case .noPurchases, .lookUpOpen, .noNews, .newsLost, .gapSinceHistory, .notCompared: nil
    }
  }

  package var text: String {
    switch self {
    case .noPurchases: "the receipt has no purchase by which the customer could be known"
    case .noHistory(let id): "Apple's history of \(id) was never asked for"
    case .unknownLine(let line): "the receipt has line \(line), which no signed data has"
    case .notHeld(let id): "\(id) is linked with the customer, and no history has held it yet"
    case .lookUpOpen: "a lookup of the customer at Apple is open"
    case .silent(let id): "\(id) should have renewed, and no notification was received since"
    case .noNews: "no heartbeat and no proven notification came in the last 25 hours"
    case .newsLost: "a TEST notification did not come back"
    case .gapSinceHistory: "notifications of a day after the history are missing or were refused"
    case .notCompared: "what came was not compared with Apple's history for two days"
    }
  }
}
