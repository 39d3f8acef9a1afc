import HTTPServer
import Synchronization

/// Calls that wait for Apple on behalf of clients: each class of callers has a part of the slots, and among everybody
/// else each address may hold so many, and take so many new ones a second.
final class CallSlots: Sendable {
  private struct Contents {
    var capacity: DividedCapacity
    var perAddress: [[UInt8]: Int] = [:]
  }

  private let contents: Mutex<Contents>
  private let rates: AddressLimiter
  private let mostOfAddress: Int

  /// - Parameters:
  ///   - total: how many at once, of which each class has a quarter for itself.
  ///   - mostOfAddress: how many of them one address may hold.
  ///   - rate: how often one address may take one.
  init(total: Int, mostOfAddress: Int, rate: Rate) {
    let quarters = Dictionary(uniqueKeysWithValues: CallerClass.allCases.map { ($0, total / 4) })
    contents = Mutex(Contents(capacity: DividedCapacity(total: total, reserved: quarters)))
    rates = AddressLimiter(rate)
    self.mostOfAddress = mostOfAddress
  }

  /// Takes a slot, or returns why there is none: a word for the metric.
  ///
  /// - Parameter client: nil where the limits for each address do not count.
  func take(for caller: CallerClass, at client: PeerAddress?) -> String? {
    if let client, !rates.take(client) { return "tooFastFromAddress" }
    return contents.withLock { contents in
      if let client, contents.perAddress[client.site, default: 0] >= mostOfAddress { return "tooManyFromAddress" }
      guard contents.capacity.take(1, for: caller) else { return "overloaded" }
      if let client { contents.perAddress[client.site, default: 0] += 1 }
      return nil
    }
  }

  /// - Parameter client: as it was taken for.
  func give(back caller: CallerClass, at client: PeerAddress?) {
    contents.withLock { contents in
      contents.capacity.give(1, back: caller)
      guard let client else { return }
      let left = contents.perAddress[client.site, default: 1] - 1
      contents.perAddress[client.site] = left > 0 ? left : nil
    }
  }
}
