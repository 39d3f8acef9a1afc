import HTTPServer
import Synchronization

/// Limits the verifyReceipt calls that are answered or wait for Apple.
///
/// Each class of callers has reserved slots. In the shared rest, limits apply to each address, to each app that a
/// shared secret names, and to all calls without an app. Addresses and apps also have a rate of new calls. So neither
/// strangers nor one app's clients can take the slots of another app.
final class CallLimiter: Sendable {
  struct Call: Sendable {
    let caller: CallerClass
    /// `nil` if the limits for each address do not apply.
    let client: PeerAddress?
    let app: String?

    init(_ caller: CallerClass, at client: PeerAddress?, of app: String? = nil) {
      (self.caller, self.client, self.app) = (caller, client, app)
    }

    fileprivate var group: Group? {
      if let app { return caller == .anonymous ? .app(app) : nil }
      return client == nil ? nil : .unnamed
    }
  }

  fileprivate enum Group: Hashable {
    case app(String)
    case unnamed
  }

  private struct Contents {
    var capacity: PartitionedCapacity
    var perAddress: [[UInt8]: Int] = [:]
    var perGroup: [Group: Int] = [:]
  }

  private let contents: Mutex<Contents>
  private let rates: AddressRateLimiter?
  private let mostOfAddress: Int
  private let mostOfGroup: Int
  private let appRates: AddressRateLimiter?

  /// - Parameters:
  ///   - total: the concurrent calls. Each class has a quarter for itself. Of the half for other callers, an app's
  ///     clients may hold half, and so may calls without an app.
  ///   - mostOfAddress: how many of them one address may hold.
  ///   - rate: how often one address may take one; nil for no rate.
  ///   - appRate: how often the clients of one app may take one; nil for no rate.
  init(total: Int, mostOfAddress: Int, rate: Rate? = nil, appRate: Rate? = nil) {
    let quarters = Dictionary(uniqueKeysWithValues: CallerClass.allCases.map { ($0, total / 4) })
    contents = Mutex(Contents(capacity: PartitionedCapacity(total: total, reserved: quarters)))
    rates = rate.map { AddressRateLimiter($0) }
    self.mostOfAddress = mostOfAddress
    mostOfGroup = total / 4
    appRates = appRate.map { AddressRateLimiter($0) }
  }

  /// Takes a slot, or returns the reason for a refusal as a metric label.
  func take(for call: Call) -> String? { begin(call) ?? join(call) }

  /// Takes a slot for a call by its address only, because its body is not read before.
  ///
  /// Returns the reason for a refusal. The call must `join` once its app is known.
  func begin(_ call: Call) -> String? {
    if let client = call.client, let rates, !rates.take(client) { return "tooFastFromAddress" }
    return contents.withLock { contents in
      if let client = call.client, contents.perAddress[client.site, default: 0] >= mostOfAddress {
        return "tooManyFromAddress"
      }
      guard contents.capacity.take(1, for: call.caller) else { return "overloaded" }
      if let client = call.client { contents.perAddress[client.site, default: 0] += 1 }
      return nil
    }
  }

  /// Counts a begun call for its app, or as one without an app.
  ///
  /// If its limit is reached, releases the slot and returns the reason.
  func join(_ call: Call) -> String? {
    guard let group = call.group else { return nil }
    if case .app(let app) = group, let appRates, !appRates.take(app) {
      contents.withLock { Self.end(call, &$0) }
      return "tooFastOfApp"
    }
    return contents.withLock { contents in
      guard contents.perGroup[group, default: 0] < mostOfGroup else {
        Self.end(call, &contents)
        return call.app == nil ? "tooManyUnnamed" : "tooManyOfApp"
      }
      contents.perGroup[group, default: 0] += 1
      return nil
    }
  }

  /// Releases the slot of `call`.
  func give(back call: Call) {
    contents.withLock { contents in
      Self.end(call, &contents)
      if let group = call.group { Self.lower(&contents.perGroup[group]) }
    }
  }

  private static func end(_ call: Call, _ contents: inout Contents) {
    contents.capacity.give(1, back: call.caller)
    if let client = call.client { lower(&contents.perAddress[client.site]) }
  }

  private static func lower(_ count: inout Int?) {
    let left = (count ?? 1) - 1
    count = left > 0 ? left : nil
  }
}
