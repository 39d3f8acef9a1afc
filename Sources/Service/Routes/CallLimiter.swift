import HTTPServer
import Synchronization

/// Calls of clients that are being answered, or that wait for Apple.
///
/// Each class of callers has a part of the slots. Among everybody else each address, each app that a shared secret names,
/// and all calls that name none together may hold so many; addresses and apps may take so many new ones a second. So
/// neither what strangers send nor one app's clients take the slots of another app's.
final class CallLimiter: Sendable {
  /// One call, as its slot is counted.
  struct Call: Sendable {
    let caller: CallerClass
    /// Nil where the limits for each address do not count.
    let client: PeerAddress?
    /// The app whose shared secret the call has.
    let app: String?

    init(_ caller: CallerClass, at client: PeerAddress?, of app: String? = nil) {
      (self.caller, self.client, self.app) = (caller, client, app)
    }

    /// Whose slots are counted together, beside the address.
    fileprivate var group: Group? {
      if let app { return caller == .anonymous ? .app(app) : nil }
      return client == nil ? nil : .unnamed
    }
  }

  fileprivate enum Group: Hashable {
    case app(String)
    /// Calls that name no app.
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
  ///   - total: how many at once, of which each class has a quarter for itself. Of the half that is in reach of everybody
  ///     else, an app's clients, and calls that name no app, may hold half.
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

  /// Takes a slot, or returns why there is none: a word for the metric.
  func take(for call: Call) -> String? { begin(call) ?? join(call) }

  /// Takes a slot for a call of which only the address is known: nothing of its body is read before.
  ///
  /// Returns why there is none. A call that has begun must `join` once its app is known.
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

  /// Counts a call that has begun as one of its app, or of those that name none; else gives its slot back, and returns why.
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

  /// Gives the slot of `call` back.
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
