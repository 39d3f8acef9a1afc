import JSON
import Purchases
import Wire

/// The parameter `userId` of a request, which the back end sets; the body may be a client's.
struct UserIDParameter {
  /// `nil` if missing or blank.
  let id: String?
  /// Whether the parameter exists, even if blank, so that a body must not name another user.
  private let isGiven: Bool
  /// Whether there are several, or one in another spelling: two programs could read different users.
  let isAmbiguous: Bool

  private static let name = "userId"

  init(_ query: [(name: String, value: String)]) {
    let named = query.filter { Self.isName($0.name) }
    id = named.first.flatMap { UserID.isNobody($0.value) ? nil : $0.value }
    isGiven = !named.isEmpty
    isAmbiguous = named.count > 1 || named.contains { $0.name != Self.name }
  }

  /// Whether a body names a user and the request does not, or spells the member in another way.
  ///
  /// The reader of the evidence compares two users that are both named.
  func contradicts(_ body: [UInt8], limits: JSONLimits) -> Bool {
    guard Self.mayName(body), let object = try? JSONReader.read(body, limits: limits).object else { return false }
    return object.contains { member in
      guard Self.isName(member.key), let user = member.value.looseText else { return false }
      if UserID.isNobody(user) { return false }
      return member.key != Self.name || isGiven && id == nil
    }
  }

  /// Whether a body may contain the name, in any spelling or behind an escape.
  static func mayName(_ body: [UInt8]) -> Bool {
    let word = Array("userid".utf8)
    return body.indices.contains { place in
      if body[place] == UInt8(ascii: "\\") { return true }
      guard body[place] | 0x20 == word[0], place + word.count <= body.count else { return false }
      return word.indices.allSatisfy { body[place + $0] | 0x20 == word[$0] }
    }
  }

  private static func isName(_ text: String) -> Bool { text.lowercased() == "userid" }
}
