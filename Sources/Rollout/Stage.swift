/// How far an app has moved in one environment; the order is the order of the road.
package enum Stage: String, Hashable, Sendable, CaseIterable, Comparable {
  /// What Apple sends is passed through to the app's old back end; nothing of it is stored.
  case legacy
  /// Everything is stored and forwarded; Apple still answers.
  case record
  /// As `record`; our answers are computed beside Apple's and compared.
  case shadow
  /// Our answers for a part of the customers.
  case ramp
  /// Our answers for all; Apple is asked for a sample.
  case live
  /// Apple's legacy endpoint is never called.
  case complete

  /// What becomes of a notification.
  package var notifications: NotificationHandling {
    switch self {
    case .legacy: .passThrough
    case .record, .shadow, .ramp, .live, .complete: .record
    }
  }

  /// Whose answer a caller of verifyReceipt gets.
  package var answers: ResponderChoice {
    switch self {
    case .legacy, .record, .shadow: .apple
    case .ramp: .divided
    case .live, .complete: .ledger
    }
  }

  /// Whether answers of Apple's that clients get are compared with ours.
  package var comparesAnswers: Bool {
    switch self {
    case .legacy, .record, .complete: false
    case .shadow, .ramp, .live: true
    }
  }

  /// Whether Apple's verifyReceipt may be asked.
  package var asksVerifyReceipt: Bool { self != .complete }

  /// Whether `a` stands before `b` on the road.
  package static func < (a: Self, b: Self) -> Bool { a.position < b.position }

  private var position: Int {
    switch self {
    case .legacy: 0
    case .record: 1
    case .shadow: 2
    case .ramp: 3
    case .live: 4
    case .complete: 5
    }
  }
}

/// The roads of a verifyReceipt request.
package enum ResponderChoice: Hashable, Sendable {
  /// To Apple, whose answer is passed through.
  case apple
  /// By the customer's bucket, to Apple or to us.
  case divided
  /// Answered by us, from what is known.
  case ledger
}

/// The two roads of a notification.
package enum NotificationHandling: Hashable, Sendable {
  /// To the old back end while Apple waits, its status returned to Apple; nothing is kept.
  case passThrough
  /// Into the inbox and, in the same transaction, into the outbox of every enabled destination.
  case record
}
