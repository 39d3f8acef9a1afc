import JSON
import Signing
import Time

struct QueuedNotification: Sendable {
  enum State: Hashable, Sendable, CaseIterable {
    case waiting
    case delivered
    /// No receiver accepted it, and no attempts are left.
    case givenUp
    /// Lost permanently by a fault: only the history has it.
    case lost
    /// No URL is set for the app and environment.
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

  /// The subject of the notification, small because a world has millions.
  enum Subject: Hashable, Sendable {
    case happening(WorldEvent, of: CustomerID)
    /// No customer: a test or the end of a mass extension.
    case notice(NotificationDraft)
  }

  let subject: Subject
  /// The index among its V1 messages.
  var part = 0
  let place: SimulatedAppScope
  /// The time of Apple's first attempt.
  let due: Timestamp
  var state = State.waiting
  /// The generation of the first attempt, which a later switch does not change.
  var version: NotificationVersion?
  var attempts: [SendAttempt] = []
  /// The posted body, discarded when it is old.
  var body: [UInt8]?
  var testToken: String?
  /// Whether a fault has already moved it in time, which happens once.
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
  /// `nil` without a customer.
  var customer: CustomerID? {
    switch subject {
    case .happening(_, let customer): customer
    case .notice: nil
    }
  }

  /// V2's type and subtype; `nil` if V2 does not report it.
  var title: (type: String, subtype: String?)? {
    switch subject {
    case .happening(let happening, _): happening.kind.v2
    case .notice(let draft): (draft.notificationType, draft.subtype)
    }
  }
}
