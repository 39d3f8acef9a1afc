/// How far an app has moved in one environment; the order is the order of the road.
package enum Stage: String, Hashable, Sendable, CaseIterable {
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

  /// Whether this build can do what the stage asks for.
  package var isAvailable: Bool {
    switch self {
    case .legacy, .record: true
    case .shadow, .ramp, .live, .complete: false
    }
  }

  /// What becomes of a notification.
  package var notifications: NotificationRoad {
    switch self {
    case .legacy: .passThrough
    case .record, .shadow, .ramp, .live, .complete: .record
    }
  }
}

/// The two roads of a notification.
package enum NotificationRoad: Hashable, Sendable {
  /// To the old back end while Apple waits, its status returned to Apple; nothing is kept.
  case passThrough
  /// Into the inbox and, in the same transaction, into the outbox of every enabled destination.
  case record
}
