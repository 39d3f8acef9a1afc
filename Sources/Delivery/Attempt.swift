package import HTTPClient

/// What became of one attempt.
package enum Attempt: Hashable, Sendable {
  /// 2xx: the destination has it.
  case delivered(status: Int)
  /// Any other status, or none in time; to be tried again.
  case failed(Reason)

  package enum Reason: Hashable, Sendable, CustomStringConvertible {
    case status(Int)
    case noAnswer(HTTPClientError.Code)
    /// The body is in neither the inbox nor quarantine.
    case bodyMissing
    /// The stored body does not open, or is damaged.
    case bodyUnreadable

    package var description: String {
      switch self {
      case .status(let status): "answered \(status)"
      case .noAnswer(let code): "no answer: \(code.rawValue)"
      case .bodyMissing: "the body was purged"
      case .bodyUnreadable: "the stored body is damaged, or sealed under a master key that is lost"
      }
    }

    /// Whether the destination seems to be down: it answered with 5xx, or not at all.
    ///
    /// 4xx is what a back end that is up says of a body it will not have: anybody can make such bodies, and they must not
    /// make it count as down for others.
    package var isOfDestination: Bool {
      switch self {
      case .status(let status): !(400..<500).contains(status)
      case .noAnswer: true
      case .bodyMissing, .bodyUnreadable: false
      }
    }

    /// Whether the destination will not have this message: 4xx, but for those that ask for another attempt.
    package var isRefusal: Bool {
      switch self {
      case .status(let status): (400..<500).contains(status) && ![408, 425, 429].contains(status)
      case .noAnswer, .bodyMissing, .bodyUnreadable: false
      }
    }

    /// Whether the destination asks for fewer at once.
    var asksForLess: Bool { self == .status(429) || isOfDestination }
  }

  /// A redirect is not a receipt: it is not followed, so nobody has taken the body.
  package init(status: Int) {
    self = (200..<300).contains(status) ? .delivered(status: status) : .failed(.status(status))
  }
}
