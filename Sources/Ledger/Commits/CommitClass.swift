/// Who can make an entry come in, so that nobody's entries wait behind those of somebody who may be less trusted.
package enum CommitClass: Hashable, Sendable, CaseIterable {
  /// A notification that Apple signed, or one that Apple's history tells of.
  case notification
  /// What an app's back end handed in with its token, or what we asked Apple for.
  case answer
  /// A V1 notification with the app's shared secret that came from one of Apple's networks.
  case claimedFromApple
  /// What nothing vouches for but that it came from one of Apple's networks: a V1 notification with a new secret.
  case unprovenFromApple
  /// An answer to a client's verifyReceipt call, or the proven receipt of one: Apple made it, but anybody with a receipt can
  /// have it kept.
  case relayed
  /// Only the shared secret vouches for it, which every old copy of the app carries.
  case claimed
  /// Nothing vouches for it.
  case unproven

  /// Whether Apple waits for its commit, so that it is lent a connection to the database before others.
  var isUrgent: Bool {
    switch self {
    case .notification, .claimedFromApple: true
    case .answer, .unprovenFromApple, .relayed, .claimed, .unproven: false
    }
  }

  /// Whether only who sent it loses anything if it is not written now.
  var isSentAgain: Bool {
    switch self {
    case .claimed, .unproven: true
    case .notification, .claimedFromApple, .unprovenFromApple, .answer, .relayed: false
    }
  }

  /// Whether anybody on the internet can fill its line.
  package var isOpenToStrangers: Bool {
    switch self {
    case .notification, .answer, .claimedFromApple, .unprovenFromApple: false
    case .relayed, .claimed, .unproven: true
    }
  }
}

extension LedgerEntry {
  /// In which line it waits for its commit.
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
