package struct Fault: Hashable, Sendable {
  package enum Surface: String, Hashable, Sendable, CaseIterable {
    case api, verifyReceipt, notifications, ocsp
  }

  package enum Kind: String, Hashable, Sendable, CaseIterable {
    // Responses.
    case rateLimited, hourlyLimit, secondLimit, serverError, unauthorized, slow, stalled, reset, truncated, malformed
    case status
    // Signed payloads.
    case unknownFields, unknownType, clockSkew, newChain, expiredChain, foreignChain, badSignature
    // Notifications in flight.
    case dropped, duplicated, delayed, reordered, wrongPassword
    // OCSP responses.
    case revoked, unknown, tryLater, stale, foreignSigner

    /// The surfaces that the fault can strike, the meaning of its value, and the default value.
    package var description: (surfaces: Set<Surface>, value: String?, standard: Int64) {
      let answers: Set<Surface> = [.api, .verifyReceipt, .ocsp]
      return switch self {
      case .rateLimited: (answers, "milliseconds until the Retry-After of status 429", 60_000)
      case .hourlyLimit: ([.api, .verifyReceipt], "calls of one app to one operation in an hour, then 429", 100)
      case .secondLimit: ([.api, .verifyReceipt], "calls of one app to one operation in a second, then 429", 10)
      case .serverError: (answers, "the HTTP status, 500 to 599", 500)
      case .unauthorized: ([.api], nil, 0)
      case .slow: (answers, "milliseconds before the answer", 1_000)
      case .stalled: (answers, "milliseconds without a byte, then the connection is closed", 60_000)
      case .reset: (answers, nil, 0)
      case .truncated: (answers, "bytes of the body that arrive", 40)
      case .malformed: (answers, nil, 0)
      case .status: ([.verifyReceipt], "the status: 21000 to 21199", 21_005)
      case .unknownFields: ([.api, .verifyReceipt, .notifications], nil, 0)
      case .unknownType: ([.notifications], nil, 0)
      case .clockSkew: ([.api, .verifyReceipt, .notifications], "milliseconds that Apple's clock is ahead", 600_000)
      case .newChain, .expiredChain, .foreignChain, .badSignature: ([.api, .notifications], nil, 0)
      case .dropped: ([.notifications], nil, 0)
      case .duplicated: ([.notifications], "copies in addition to the first", 1)
      case .delayed: ([.notifications], "milliseconds of the world's clock", 3_600_000)
      case .reordered: ([.notifications], nil, 0)
      case .wrongPassword: ([.notifications], nil, 0)
      case .revoked, .unknown, .tryLater, .stale, .foreignSigner: ([.ocsp], nil, 0)
      }
    }

    package var range: ClosedRange<Int64> {
      switch self {
      case .serverError: 500...599
      case .status: 21_000...21_199
      case .duplicated: 1...100
      case .slow, .stalled: 0...600_000
      case .clockSkew: -315_360_000_000...315_360_000_000
      default: 0...315_360_000_000
      }
    }
  }

  package var kind: Kind
  package var value: Int64

  package init(_ kind: Kind, _ value: Int64? = nil) {
    self.kind = kind
    self.value = value ?? kind.description.standard
  }
}
