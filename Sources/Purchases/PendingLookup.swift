public import Time

/// An open lookup of a subscription: an unsigned message reported a change, and no signed response has confirmed or
/// denied it.
public struct PendingLookup: Hashable, Sendable {
  /// The commit time of the first unanswered report.
  public let since: Timestamp
  public let because: UnconfirmedChange
  public let message: [UInt8]
  /// The reason of the last failure, or `nil`.
  public let failure: String?

  public init(since: Timestamp, because: UnconfirmedChange, message: [UInt8], failure: String?) {
    self.since = since
    self.because = because
    self.message = message
    self.failure = failure
  }
}

/// An operator's limit for how long access may outlast a subscription's signed end while a lookup is open.
public struct AccessHold: Hashable, Sendable {
  /// A number from 0, for no hold, to `longest`.
  public let hours: Int

  public static let longest = 72
  /// The default of an app.
  public static let standard = Self(hours: longest)
  public static let off = Self(hours: 0)

  public init(hours: Int) { self.hours = min(max(hours, 0), Self.longest) }

  var interval: Interval { .hours(Int64(hours)) }
}
