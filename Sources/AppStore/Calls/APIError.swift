package import Mappings
public import Time

/// Why a call has no answer; equality looks at the code and Apple's number alone.
///
/// Nothing secret is in it: no token, no body that was sent, no id from a path.
public struct APIError: Error, Equatable, Sendable, CustomStringConvertible {
  public enum Code: String, Sendable, CaseIterable {
    /// The call cannot be said in HTTP: an empty id, for example. Nothing was sent.
    case invalidCall
    /// The key cannot sign a token. Nothing was sent.
    case noToken
    /// 401: Apple does not accept the token; `AccessDiagnosis` finds out why.
    case unauthorized
    /// Apple understood and said no, for the reason in `errorCode`.
    case refused
    /// 429, and the wait would be longer than this call may take.
    case rateLimited
    /// 5xx.
    case serverFailed
    /// No connection, or one that ended before TLS was agreed: Apple has not seen the call.
    case unreachable
    /// The certificate is none of a trusted root.
    case untrusted
    /// The connection ended or the time was over before the answer was complete.
    case interrupted
    /// An answer that is not what Apple documents: no JSON, a redirect.
    case malformedAnswer
    /// More than is accepted of an answer.
    case tooLarge
    /// The wait for our own budget would be longer than this call may take. Nothing was sent.
    case overBudget
    /// Pages that never end.
    case endlessPaging
    case cancelled
  }

  /// What may be done after it.
  package enum RetryAdvice: Sendable {
    case never
    /// Apple has not acted on the call: it may be made again, whatever it is.
    case safe
    /// Apple may have acted on it: only a call may be made again of which two are as good as one.
    case ifRepeatable
  }

  public let code: Code
  public let endpoint: Endpoint
  public let detail: String
  public package(set) var environment: APIEnvironment?
  /// The environment that was asked before and knows no such id: it need not be asked again.
  package var unknownIn: APIEnvironment?
  /// The HTTP status, where there is an answer.
  public package(set) var status: Int?
  /// Apple's number, of which `row` knows the meaning.
  public package(set) var errorCode: Int64?
  /// When Apple or our budget would take it again.
  public package(set) var retryAt: Timestamp?
  /// The answer's Date header, to the second.
  package var serverDate: Timestamp?
  package var receivedAt: Timestamp?
  public package(set) var attempts = 0
  /// Whether Apple may have acted on an attempt without saying so: the last, or one before it.
  package var mayHaveActed: Bool

  package init(_ code: Code, _ endpoint: Endpoint, _ detail: String) {
    self.code = code
    self.endpoint = endpoint
    self.detail = detail
    mayHaveActed =
      switch code {
      case .serverFailed, .interrupted, .malformedAnswer, .tooLarge: true
      case .invalidCall, .noToken, .unauthorized, .refused, .rateLimited, .unreachable, .untrusted, .overBudget,
        .endlessPaging, .cancelled:
        false
      }
  }

  public static func == (a: Self, b: Self) -> Bool { a.code == b.code && a.errorCode == b.errorCode }

  /// What is known of Apple's number; nil without one, and for one that is newer than this build.
  package var row: ErrorTable.Row? { errorCode.flatMap { Vocabulary.embedded.apiErrors[$0] } }

  package var repetition: RetryAdvice {
    switch code {
    case .unreachable, .rateLimited: .safe
    case .serverFailed, .interrupted, .malformedAnswer: .ifRepeatable
    case .refused: row?.retry == .yes ? .safe : .never
    case .invalidCall, .noToken, .unauthorized, .untrusted, .tooLarge, .overBudget, .endlessPaging, .cancelled: .never
    }
  }

  /// Whether Apple may have done what was asked although nobody said so.
  public var isOutcomeUnknown: Bool { mayHaveActed && !endpoint.isReading }

  public var description: String {
    let number = errorCode.map { " \($0)" } ?? ""
    let name = row.map { " \($0.name) (\($0.id)): \($0.meaning)" } ?? ""
    let place = environment.map { " in \($0.rawValue)" } ?? ""
    return "\(endpoint.rawValue)\(place): \(code.rawValue)\(number)\(name)\(detail.isEmpty ? "" : "; \(detail)")"
  }

  /// What to do about it.
  public var nextStep: String {
    if isOutcomeUnknown { return "whether Apple did it is not known: look before asking again" }
    if code == .refused, unknownIn != nil { return "both environments were asked: check id and bundle id" }
    if [.rateLimited, .overBudget].contains(code), let retryAt { return "ask again at \(retryAt.iso8601)" }
    if let row { return row.next }
    return switch code {
    case .invalidCall: "correct the request"
    case .noToken: "check the .p8 file: the key of the App Store Server API, as it was downloaded"
    case .unauthorized: "switchyard api check shows why"
    case .refused: "see Apple's page on the error code"
    case .rateLimited, .overBudget, .serverFailed, .interrupted: "ask again later"
    case .unreachable: "check network, proxy and host"
    case .untrusted: "check the clock and the trusted roots; a proxy that opens TLS needs its root added"
    case .malformedAnswer, .tooLarge: "check that the host is Apple's"
    case .endlessPaging: "report it; what was received is usable"
    case .cancelled: "nothing to do"
    }
  }
}
