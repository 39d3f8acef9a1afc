import JSON
import Purchases
import Time

/// The sort key of an item in a list of a response, as bytes.
///
/// It derives from the purchase and its date, not from an index, so that it stays the same while data arrives. Only a
/// confirmation by Apple moves an item from the claims to the signed items.
struct ItemPosition: Hashable, Comparable, Sendable {
  private(set) var bytes: [UInt8]

  init() { bytes = [] }

  init(bytes: [UInt8]) { self.bytes = bytes }

  static func < (a: Self, b: Self) -> Bool { a.bytes.lexicographicallyPrecedes(b.bytes) }

  mutating func append(_ number: Int64) {
    let ordered = UInt64(bitPattern: number) ^ (1 << 63)
    for shift in stride(from: 56, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: ordered >> shift)) }
  }

  mutating func append(_ date: Timestamp) { append(date.sinceEpoch) }

  /// Appends bytes of any length so that a shorter text is first, regardless of later bytes.
  mutating func append(_ text: some Sequence<UInt8>) {
    for byte in text {
      bytes.append(byte)
      if byte == 0 { bytes.append(1) }
    }
    bytes += [0, 0]
  }

  mutating func append(_ text: String) { append(text.utf8) }

  /// Sorts unverified items after all of Apple's.
  private mutating func append(isClaimed: Bool) { bytes.append(isClaimed ? 1 : 0) }
}

extension ItemPosition {
  init(_ member: CustomerNode) {
    self.init()
    append(member.text)
  }

  init(id: String) {
    self.init()
    append(id)
  }

  /// Creates a position: signed purchases first, then by time of purchase, with missing times last.
  ///
  /// Anyone with the shared secret can claim any number of purchases, which must not push signed ones off the first
  /// page.
  init(_ purchase: Purchase) {
    self.init()
    append(isClaimed: purchase.isClaimed)
    append(purchase.purchaseDate ?? Timestamp(.max))
    append(purchase.key.originalTransactionID)
    append(purchase.key.line.text)
  }

  /// Creates a position: claims last, then by date.
  ///
  /// Reported events precede derived ones; then by authority, with the latest source last.
  ///
  /// - Parameter purchase: the position of the purchase that an event was derived from.
  init(_ occurrence: MergedEvent, learnedFrom purchase: ItemPosition?) {
    self.init()
    let event = occurrence.event
    append(isClaimed: occurrence.isClaimed)
    append(event.date)
    if let purchase {
      append(1)
      bytes += purchase.bytes
      // A purchase precedes its revocation.
      append(["REFUND", "REVOKE"].contains(event.notificationType) ? 1 : 0)
      return
    }
    append(0)
    append(Int64(event.source.rawValue))
    append(event.rank.asOf)
    append(event.rank.tieBreak)
    append(event.message)
    append(event.name)
  }

  /// Creates a position: claims last, then by the originalTransactionId and its earliest source.
  init(_ attribution: AccountAssociation) {
    self.init()
    append(isClaimed: attribution.isClaimed)
    append(attribution.originalTransactionID)
    append(Int64(attribution.kind.rawValue))
    append(attribution.line.text)
    append(attribution.firstAsOf)
    append(attribution.value)
  }

  /// - Parameter repetition: the number of equal ones before it: two accounts may exchange a purchase repeatedly at one
  ///   time.
  init(_ transfer: AccountTransfer, repetition: Int64) {
    self.init()
    append(transfer.date)
    append(transfer.originalTransactionID)
    append(Int64(transfer.kind.rawValue))
    append(transfer.from)
    append(transfer.to)
    append(repetition)
  }
}

extension Purchase {
  var isClaimed: Bool { !statements.contains(where: \.source.isSigned) }
}

extension Event {
  /// The bytes that distinguish and order the events of one message.
  fileprivate var name: [UInt8] {
    let words = [notificationUUID, notificationType, subtype, originalTransactionID, transactionID, line?.text, rule]
    return JSONValue.array(words.map { $0.map(JSONValue.string) ?? .null }).encoded()
  }
}
