package import JSON

/// A text inside an object that is a receipt or a JWS: what a client's library makes of a purchase, and a back end stored.
///
/// Every library has names of its own (cordova `transaction.appStoreReceipt`, React Native `transactionReceipt`, Expo
/// `purchaseToken`, Unity `Payload`, Flutter `verificationData.serverVerificationData`), so that it is told by its content.
package struct SignedMember: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    case receipt, jws
  }

  package let kind: Kind
  package let text: [UInt8]

  /// Objects within objects, and texts that are JSON.
  private static let (mostLevels, mostTexts) = (2, 1)
  /// Members that are looked at, of all objects together.
  private static let mostMembers = 1_000
  /// No receipt of either kind and no JWS of Apple's is as short.
  private static let shortest = 300

  /// Those of an object, receipts first, of each kind the longest first.
  ///
  /// A receipt names all that was bought, a JWS one purchase. Of equally long ones the first comes first.
  package static func all(in object: JSONObject) -> [Self] {
    var search = Search()
    search.look(into: object, levels: mostLevels, texts: mostTexts)
    var seen: Set<Self> = []
    return search.found.filter { seen.insert($0).inserted }.enumerated().sorted { a, b in
      if a.element.kind != b.element.kind { return a.element.kind == .receipt }
      let (length, other) = (a.element.text.count, b.element.text.count)
      return length != other ? length > other : a.offset < b.offset
    }.map(\.element)
  }

  /// The same of a text that is a JSON object; empty for any other.
  package static func all(in text: ArraySlice<UInt8>) -> [Self] { Search.object(text).map(all(in:)) ?? [] }

  /// What a text is by its content; nil for what is neither.
  private static func kind(of text: some Collection<UInt8>) -> Kind? {
    guard text.count >= shortest else { return nil }
    if text.starts(with: "eyJ".utf8), text.count(where: { $0 == UInt8(ascii: ".") }) == 2 { return .jws }
    return text.starts(with: "MI".utf8) || text.starts(with: "ewo".utf8) ? .receipt : nil
  }

  private struct Search {
    var found: [SignedMember] = []
    private var members = 0

    static func object(_ text: some Collection<UInt8>) -> JSONObject? {
      guard text.first(where: { $0 > 0x20 }) == UInt8(ascii: "{") else { return nil }
      let limits = JSONLimits(bytes: text.count, depth: JSONLimits.standard.depth)
      return (try? JSONReader.read(Array(text), limits: limits))?.object
    }

    mutating func look(into object: JSONObject, levels: Int, texts: Int) {
      for member in object.members { look(at: member.value, levels, texts) }
    }

    private mutating func look(at value: JSONValue, _ levels: Int, _ texts: Int) {
      members += 1
      guard members <= SignedMember.mostMembers else { return }
      switch value {
      case .string(let text):
        let content = Array(text.utf8)[...].withoutDataURI
        if let kind = SignedMember.kind(of: content) {
          found.append(SignedMember(kind: kind, text: Array(content)))
        } else if texts > 0, let inner = Self.object(text.utf8) {
          look(into: inner, levels: levels, texts: texts - 1)
        }
      case .object(let inner):
        if levels > 0 { look(into: inner, levels: levels - 1, texts: texts) }
      case .array(let items):
        for item in items { look(at: item, levels, texts) }
      case .null, .bool, .integer, .number: break
      }
    }
  }
}
