import Ledger
import Purchases
import Signing

/// The end of a page: for each environment and list the position of the last returned item.
///
/// Opaque to clients: base64url of bytes. It contains only positions, so that any process can continue from it at any
/// time; it is valid only for its own request.
struct PageCursor: Sendable {
  struct Unusable: Error {}

  /// The lists of a response; the raw value is the number in a cursor.
  enum List: UInt8, Hashable, Sendable, CaseIterable {
    case members = 1
    case purchases, appTransactions, events, accounts, transfers
  }

  typealias Ends = [List: ItemPosition]

  /// 2: claims come after signed items, so positions of version 1 have another order.
  private static let version: UInt8 = 2
  /// The largest number of characters; the longest IDs in four environments need less.
  private static let longest = 12_288

  var ends: [Environment: Ends] = [:]

  init() {}

  /// - Parameter request: the text that identifies the request, as it was written.
  init(_ text: String, of request: String) throws(Unusable) {
    guard text.utf8.count <= Self.longest, let bytes = Base64.url.decode(Array(text.utf8)) else { throw Unusable() }
    var rest = bytes[...]
    guard rest.popFirst() == Self.version, Array(rest.prefix(4)) == Self.mark(request) else { throw Unusable() }
    rest = rest.dropFirst(4)
    while let first = rest.popFirst() {
      guard Environment.allCases.indices.contains(Int(first)), let list = rest.popFirst().flatMap(List.init(rawValue:)),
        let high = rest.popFirst(), let low = rest.popFirst(), case let count = Int(high) << 8 | Int(low),
        rest.count >= count
      else { throw Unusable() }
      let environment = Environment.allCases[Int(first)]
      guard ends[environment]?[list] == nil else { throw Unusable() }
      ends[environment, default: [:]][list] = ItemPosition(bytes: Array(rest.prefix(count)))
      rest = rest.dropFirst(count)
    }
  }

  func text(of request: String) -> String {
    var bytes = [Self.version] + Self.mark(request)
    for (number, environment) in Environment.allCases.enumerated() {
      for (list, position) in (ends[environment] ?? [:]).sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
        let count = position.bytes.count
        bytes += [
          UInt8(number), list.rawValue, UInt8(truncatingIfNeeded: count >> 8), UInt8(truncatingIfNeeded: count),
        ]
        bytes += position.bytes
      }
    }
    return String(decoding: Base64.url.encode(bytes), as: UTF8.self)
  }

  private static func mark(_ request: String) -> [UInt8] {
    Array(Digest.sha256(Array(request.utf8)).bytes.prefix(4))
  }
}
