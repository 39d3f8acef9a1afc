import JSON
import Signing
import Time

/// One notification on its way to a developer's server, and what became of it.
struct QueuedNotification: Sendable {
  enum State: Hashable, Sendable, CaseIterable {
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

    static let words = allCases.map(\.word)
  }

  /// What it tells of; kept small, since a world tells of millions of things.
  enum Subject: Hashable, Sendable {
    case happening(WorldEvent, of: CustomerID)
    /// About no customer: a test, the end of a mass extension.
    case notice(NotificationDraft)
  }

  let subject: Subject
  /// Among the messages that V1 makes of it.
  var part = 0
  let place: SimulatedAppScope
  /// When Apple would send it first.
  let due: Timestamp
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

  init(_ notification: WorldNotification) {
    subject = .happening(notification.happening, of: notification.customer)
    place = SimulatedAppScope(notification.app)
    due = notification.due
  }

  init(_ notice: NotificationDraft, testToken: String? = nil) {
    subject = .notice(notice)
    place = SimulatedAppScope(notice.app)
    due = notice.signedDate
    self.testToken = testToken
  }
}

extension QueuedNotification {
  /// Nil for what is about no customer.
  var customer: CustomerID? {
    switch subject {
    case .happening(_, let customer): customer
    case .notice: nil
    }
  }

  /// Type and subtype in V2's words; nil where V2 does not tell of it.
  var title: (type: String, subtype: String?)? {
    switch subject {
    case .happening(let happening, _): happening.kind.v2
    case .notice(let draft): (draft.notificationType, draft.subtype)
    }
  }
}
