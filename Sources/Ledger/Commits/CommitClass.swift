/// The queue of an entry's commit.
///
/// Entries of trusted senders do not wait behind those of less trusted ones.
package enum CommitClass: Hashable, Sendable, CaseIterable {
  /// A notification that Apple signed, or that Apple's notification history contains.
  case notification
  /// Data that an app's back end submitted with its token, or that Switchyard fetched from Apple.
  case answer
  /// A V1 notification with the app's shared secret from one of Apple's networks.
  case claimedFromApple
  /// An unverified V1 notification with a new secret from one of Apple's networks.
  case unprovenFromApple
  /// A verifyReceipt response to a client's call, or the proven receipt of one.
  ///
  /// Every holder of a receipt can submit it.
  case relayed
  /// A message with only the shared secret, which every old copy of the app carries.
  case claimed
  /// An unverified message.
  case unproven

  /// Whether Apple waits for its commit.
  ///
  /// If so, it gets a database connection first.
  var isUrgent: Bool {
    switch self {
    case .notification, .claimedFromApple: true
    case .answer, .unprovenFromApple, .relayed, .claimed, .unproven: false
    }
  }

  /// Whether only the sender loses data if it is not written now.
  var isSentAgain: Bool {
    switch self {
    case .claimed, .unproven: true
    case .notification, .claimedFromApple, .unprovenFromApple, .answer, .relayed: false
    }
  }

  /// Whether every client on the internet can fill its queue.
  package var isOpenToStrangers: Bool {
    switch self {
    case .notification, .answer, .claimedFromApple, .unprovenFromApple: false
    case .relayed, .claimed, .unproven: true
    }
  }
}

extension LedgerEntry {
  package var commitClass: CommitClass {
    if case .quarantined(let refusal) = content, !refusal.source.isApple {
      return isFromApple ? .unprovenFromApple : .unproven
    }
    switch message.kind {
    case .notification where proof == .proven || !isAccepted: return .notification
    case .notification: return isFromApple ? .claimedFromApple : .claimed
    case .notificationHistory: return .notification
    case .evidence, .apiAnswer: return .answer
    case .verifyReceiptAnswer, .verifiedReceipt: return .relayed
    }
  }
}
