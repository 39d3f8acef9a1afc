import JSON
import Signing
import Time

/// One notification on its way to a developer's server, and what became of it.
struct Shipment: Sendable {
  enum State: Hashable, Sendable {
    /// The next attempt is planned.
    case waiting
    case delivered
    /// Nobody took it, and there are no attempts left.
    case givenUp
    /// The fault that loses notifications for good: only the history has them.
    case lost
    /// There is no URL for the app and environment.
    case withoutDestination
    /// V1 has no such notification.
    case withoutCounterpart

    var word: String {
      switch self {
      case .waiting: "waiting"
      case .delivered: "delivered"
      case .givenUp: "given up"
      case .lost: "lost"
      case .withoutDestination: "no destination"
      case .withoutCounterpart: "not in V1"
      }
    }
  }

  let notification: WorldNotification
  /// When Apple would send it first.
  let due: Milliseconds
  var state = State.waiting
  /// The generation it was first sent in; a later switch does not change it.
  var version: NotificationVersion?
  var attempts: [SendAttempt] = []
  /// What was posted; let go of when it is old.
  var body: [UInt8]?
  /// Given back by Request a Test Notification.
  var testToken: String?
  /// Whether a fault has already moved it in time: that happens once.
  var isMoved = false

  init(_ notification: WorldNotification, testToken: String? = nil) {
    self.notification = notification
    due = notification.due
    self.testToken = testToken
  }
}
