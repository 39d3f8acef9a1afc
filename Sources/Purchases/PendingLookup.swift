public import Time

/// A question to Apple about a subscription that is still open: an unsigned message reported a change, and no signed
/// answer has confirmed or denied it yet.
public struct PendingLookup: Hashable, Sendable {
  /// When the first report that is unanswered was committed.
  public let since: Timestamp
  public let because: UnconfirmedChange
  /// The SHA-256 of the message that brought the latest report.
  public let message: [UInt8]
  /// Why the last attempt to ask Apple failed; nil before the first failure.
  public let failure: String?

  public init(since: Timestamp, because: UnconfirmedChange, message: [UInt8], failure: String?) {
    self.since = since
    self.because = because
    self.message = message
    self.failure = failure
  }
}

/// How long access may outlast the signed end of a subscription while a look-up is open: an operator's decision for an app.
public struct AccessHold: Hashable, Sendable {
  /// From 0, which holds nothing, to `longest`.
  public let hours: Int

  public static let longest = 72
  /// For apps of which nothing was decided.
  public static let standard = Self(hours: longest)
  public static let off = Self(hours: 0)

  public init(hours: Int) { self.hours = min(max(hours, 0), Self.longest) }

  var interval: Interval { .hours(Int64(hours)) }
}
