package import JSON
package import Ledger
import Runtime

/// Takes secrets out of bodies where Apple never puts them, before the body is kept or anything of it is logged.
///
/// A marker stands in their place, which cannot be turned back into the secret. Each value is read once, in a time that is
/// in proportion to the body. What is taken out:
/// * the value of a member `password`, in upper or lower case, other than the one that `LegacyPassword` replaces by its code;
/// * in any other text: what is assigned to the word `password`, and everything that follows;
/// * a shared secret of a registered app, wherever it stands, and a member whose name holds one; the name of a registered app is
///   never taken for one;
/// * a text that is written as a JWS, as a whole, if one of these is encoded in it, also in a JWS within.
package struct HiddenSecrets {
  static let marker = SecretFilter.marker

  private let secrets: SecretFilter
  /// Whether the headers of JWS are searched too.
  private let readsHeaders: Bool
  /// What stands in the places of passwords already.
  private let codes: Set<String>
  private var found = SecretFilter.Found()
  /// How many JWS are around what is looked at.
  private var tokens = 0
  /// Whether anything was replaced.
  package private(set) var isFound = false

  static let digits = SecretFilter.digits

  /// - Parameters:
  ///   - codes: what stands in the places of passwords already.
  ///   - secrets: finds those that are registered.
  ///   - readsHeaders: whether the headers of JWS are searched too: those of Apple's are long, and stored as they are.
  package init(_ secrets: SecretFilter, codes: Set<String> = [], readsHeaders: Bool = false) {
    self.secrets = secrets
    self.readsHeaders = readsHeaders
    self.codes = codes
  }

  /// Whether a body has anything in it that is worth reading it for.
  package static func mayBe(in body: [UInt8]) -> Bool {
    hasDigits(in: body) || word(in: body, from: 0) != nil || hasEscape(in: body)
  }

  /// Whether there is an escape such as `\u0061`, which may spell anything.
  static func hasEscape(in body: [UInt8]) -> Bool {
    var place = 0
    while let found = body.span.firstIndex(of: UInt8(ascii: "\\"), from: place, before: body.count) {
      if found + 1 < body.count, body[found + 1] == UInt8(ascii: "u") { return true }
      place = found + 1
    }
    return false
  }

  /// Whether there are as many hexadecimal digits in a row as a shared secret has.
  ///
  /// A row of 32 has one at a multiple of 32: few bytes of a signed payload need be looked at.
  static func hasDigits(in body: [UInt8]) -> Bool {
    for place in stride(from: 0, to: body.count, by: digits) where body[place].isHexDigit {
      var (first, last) = (place, place)
      while first > 0, body[first - 1].isHexDigit { first -= 1 }
      while last + 1 < body.count, body[last + 1].isHexDigit { last += 1 }
      if last - first + 1 >= digits { return true }
    }
    return false
  }

  /// Returns the value without the secrets that are hidden in it.
  package mutating func removed(from value: JSONValue) -> JSONValue { shortened(value) ?? value }

  /// Returns the value without its secrets; nil when there are none, as in nearly every value: nothing is built anew then.
  private mutating func shortened(_ value: JSONValue) -> JSONValue? {
    switch value {
    case .object(let object):
      var kept: [JSONObject.Member]?
      for (place, member) in object.members.enumerated() {
        // No name of Apple's holds a secret: the whole member is left out.
        if isSecretive(name: member.key) {
          kept = kept ?? Array(object.members.prefix(place))
        } else if let short = shortened(member) {
          kept = kept ?? Array(object.members.prefix(place))
          kept?.append(JSONObject.Member(key: member.key, value: short))
        } else {
          kept?.append(member)
        }
      }
      return kept.map { .object(JSONObject(uniqueMembers: $0)) }
    case .array(let values):
      var result: [JSONValue]?
      for place in values.indices {
        guard let short = shortened(values[place]) else { continue }
        if result == nil { result = values }
        result?[place] = short
      }
      return result.map(JSONValue.array)
    case .string(let text): return shortened(text).map(JSONValue.string)
    case .null, .bool, .integer, .number: return nil
    }
  }

  private mutating func shortened(_ member: JSONObject.Member) -> JSONValue? {
    guard Self.isWord(member.key) else { return shortened(member.value) }
    switch member.value {
    case .null, .bool: return nil
    case .string(let text) where text.isEmpty || text == Self.marker || codes.contains(text): return nil
    case .string, .integer, .number, .array, .object:
      isFound = true
      return .string(Self.marker)
    }
  }

  private mutating func isSecretive(name: String) -> Bool {
    name.utf8.count >= Self.digits && tokensRemoved(from: Array(name.utf8)) != nil
  }

  private mutating func shortened(_ text: String) -> String? {
    guard text.utf8.count > Self.word.count else { return nil }
    let bytes = Array(text.utf8)
    var short = Self.cut(bytes)
    if short != nil { isFound = true }
    if !secrets.spares(text), let whole = tokensRemoved(from: short ?? bytes) { short = whole }
    return short.map { String(decoding: $0, as: UTF8.self) }
  }

  /// Whether there is a secret in a payload, which cannot be taken out: it is signed, or seems to be.
  private mutating func isSecretive(_ payload: [UInt8]) -> Bool {
    let before = isFound
    defer { isFound = before }
    isFound = false
    if let value = try? JSONReader.read(payload) {
      _ = removed(from: value)
    } else if Self.cut(payload) == nil {
      _ = tokensRemoved(from: payload)
    } else {
      return true
    }
    return isFound
  }

  /// Returns the text without registered secrets, nothing of it where one is in a payload; nil when there is none.
  private mutating func tokensRemoved(from bytes: [UInt8]) -> [UInt8]? {
    if let short = secrets.redacted(bytes, noting: &found) {
      isFound = true
      return isSecretive(payloadOf: short) ? Array(Self.marker.utf8) : short
    }
    guard isSecretive(payloadOf: bytes) else { return nil }
    isFound = true
    return Array(Self.marker.utf8)
  }

  /// Whether there is a secret in what is encoded in a text as in a JWS: stored, it is not encoded, whoever signed it.
  private mutating func isSecretive(payloadOf bytes: [UInt8]) -> Bool {
    // What is encoded more often stays so.
    guard tokens < CompactBody.maximumDepth else { return false }
    tokens += 1
    defer { tokens -= 1 }
    for payload in Self.payloads(in: bytes, withHeaders: readsHeaders) where isSecretive(payload) { return true }
    return false
  }
}

/// The word `password`, in upper or lower case.
extension HiddenSecrets {
  /// Returns a text that is no member of its own, up to what is assigned to the word, as in `password=x`; nil when nothing is.
  ///
  /// Nobody can tell where the value ends, so nothing after it is left.
  static func cut(_ bytes: [UInt8]) -> [UInt8]? {
    var place = 0
    while let word = word(in: bytes, from: place) {
      var isAssigned = false
      place = word.upperBound
      while place < bytes.count, signs.contains(bytes[place]) {
        isAssigned = isAssigned || bytes[place] == UInt8(ascii: ":") || bytes[place] == UInt8(ascii: "=")
        place += 1
      }
      // What an earlier build kept has a marker there.
      if isAssigned, place < bytes.count, !bytes[place...].starts(with: marker.utf8) {
        return Array(bytes[..<place]) + Array(marker.utf8)
      }
    }
    return nil
  }

  private static let word = Array("password".utf8)
  /// The place of the w in it, the rarest of its letters.
  private static let rarest = 4
  private static let signs = Set("\"'\\ \t\r\n:=".utf8)

  private static func isWord(_ text: String) -> Bool {
    text.utf8.count == word.count && text.utf8.elementsEqual(word) { $0 | 0x20 == $1 }
  }

  /// Where the word stands next.
  private static func word(in bytes: [UInt8], from start: Int) -> Range<Int>? {
    var place = start + rarest
    while place < bytes.count {
      if bytes[place] | 0x20 == word[rarest] {
        let range = (place - rarest)..<(place - rarest + word.count)
        if range.upperBound <= bytes.count, bytes[range].elementsEqual(word, by: { $0 | 0x20 == $1 }) { return range }
      }
      place += 1
    }
    return nil
  }
}
