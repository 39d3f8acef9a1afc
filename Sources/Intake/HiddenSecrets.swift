package import JSON
package import Ledger
import Runtime

/// Takes secrets out of bodies where Apple never puts them, before the body is kept or anything of it is logged.
///
/// A marker stands in their place, which cannot be turned back into the secret. What is looked for:
/// * whatever stands below a member `password`, in upper or lower case, other than the plain text that `LegacyPassword`
///   replaces by its code;
/// * a password inside a longer text: JSON or a form within a string, or a text that repeats one of the body's;
/// * a shared secret of a registered app, wherever it stands; the name of a registered app is never taken for one;
/// * each of these in a payload that is written as that of a JWS, also within another: the whole text goes then.
package struct HiddenSecrets {
  static let marker = SecretFilter.marker

  private let secrets: SecretFilter
  /// Whether the headers of JWS are searched too.
  private let readsHeaders: Bool
  /// Passwords that stand in the body, and the codes in their places.
  private let told: [[UInt8]]
  private let codes: Set<String>
  private var found = SecretFilter.Found()
  /// How many JWS are around what is looked at.
  private var tokens = 0
  /// Whether anything was replaced.
  package private(set) var isFound = false

  static let digits = SecretFilter.digits
  /// JSON within strings within strings; in deeper ones passwords are looked for as in any text.
  private static let mostNested = 4

  /// A shorter password is looked for as a whole text alone: it may be a word of its own.
  static let shortest = 8
  private static let mostTold = 16

  /// - Parameters:
  ///   - told: the passwords of the body, with the codes that stand in their places by now.
  ///   - codes: others that stand in the places of passwords.
  ///   - secrets: finds those that are registered.
  ///   - readsHeaders: whether the headers of JWS are searched too: those of Apple's are long, and stored as they are.
  package init(
    _ secrets: SecretFilter, told: [String: String] = [:], codes: Set<String> = [], readsHeaders: Bool = false
  ) {
    self.secrets = secrets
    self.readsHeaders = readsHeaders
    self.codes = codes.union(told.values)
    self.told = told.keys.map { Array($0.utf8) }.filter { $0.count >= Self.shortest }.sorted {
      $0.count != $1.count ? $0.count > $1.count : $0.lexicographicallyPrecedes($1)
    }.prefix(Self.mostTold).map(\.self)
  }

  /// Whether a body has anything in it that is worth reading it for.
  package static func mayBe(in body: [UInt8]) -> Bool {
    hasDigits(in: body) || hasWord(body) || hasEscape(in: body)
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
  package mutating func removed(from value: JSONValue) -> JSONValue { shortened(value, nested: 0) ?? value }

  /// Returns the value without its secrets; nil when there are none, as in nearly every value: nothing is built anew then.
  private mutating func shortened(_ value: JSONValue, nested: Int) -> JSONValue? {
    switch value {
    case .object(let object):
      let old = object.members
      var members: [JSONObject.Member]?
      for place in old.indices {
        guard let short = shortened(old[place], nested: nested) else { continue }
        if members == nil { members = Array(old) }
        members?[place - old.startIndex].value = short
      }
      members = keysRemoved(from: members ?? Array(old)) ?? members
      return members.map { .object(JSONObject(uniqueMembers: $0)) }
    case .array(let values):
      var result: [JSONValue]?
      for place in values.indices {
        guard let short = shortened(values[place], nested: nested) else { continue }
        if result == nil { result = values }
        result?[place] = short
      }
      return result.map(JSONValue.array)
    case .string(let text): return shortened(text, nested: nested).map(JSONValue.string)
    case .null, .bool, .integer, .number: return nil
    }
  }

  private mutating func shortened(_ member: JSONObject.Member, nested: Int) -> JSONValue? {
    if Self.isWord(member.key) {
      // Its plain text has a code already.
      if case .string(let text) = member.value, codes.contains(text) { return nil }
      return blank(member.value)
    }
    return shortened(member.value, nested: nested)
  }

  /// A registered secret as the name of a member; nil when none is one.
  private mutating func keysRemoved(from members: [JSONObject.Member]) -> [JSONObject.Member]? {
    guard members.contains(where: { $0.key.utf8.count >= Self.digits }) else { return nil }
    // No name may stand twice afterwards: nobody could read the body again.
    var (names, number) = (Set(members.map(\.key)), 1)
    return members.map { member in
      let bytes = Array(member.key.utf8)
      guard bytes.count >= Self.digits, let short = tokensRemoved(from: bytes) else { return member }
      let name = String(decoding: short, as: UTF8.self)
      var unique = name
      while !names.insert(unique).inserted {
        number += 1
        unique = "\(name) \(number)"
      }
      return JSONObject.Member(key: unique, value: member.value)
    }
  }

  /// Everything below a member that is called a password; the whole of it where that has so many short values that the
  /// markers would make it more than twice as long.
  private mutating func blank(_ value: JSONValue) -> JSONValue {
    let short = marked(value)
    guard value.isContainer, short != value else { return short }
    let most = 2 * value.encoded().count + PasswordPlaces.slack
    return short.encoded().count > most ? .string(Self.marker) : short
  }

  private mutating func marked(_ value: JSONValue) -> JSONValue {
    switch value {
    case .null, .bool: return value
    case .string(let text) where text.isEmpty || text == Self.marker: return value
    case .string, .integer, .number:
      isFound = true
      return .string(Self.marker)
    case .array(let values): return .array(values.map { marked($0) })
    case .object(let object):
      return .object(
        JSONObject(uniqueMembers: object.map { JSONObject.Member(key: $0.key, value: marked($0.value)) }))
    }
  }

  private mutating func shortened(_ text: String, nested: Int) -> String? {
    guard text.utf8.count > Self.word.count, !codes.contains(text) else { return nil }
    let bytes = Array(text.utf8)
    var result = bytes
    for password in told {
      guard let short = Self.without(password, in: result) else { continue }
      isFound = true
      result = short
    }
    if Self.hasWord(bytes) {
      if nested < Self.mostNested, let inner = try? JSONReader.read(result), inner.isContainer {
        let before = isFound
        isFound = false
        let short = shortened(inner, nested: nested + 1) ?? inner
        if isFound { return String(decoding: short.encoded(), as: UTF8.self) }
        isFound = before
        return result == bytes ? nil : String(decoding: result, as: UTF8.self)
      }
      result = assignmentsRemoved(from: result)
    }
    if !secrets.spares(text), let short = tokensRemoved(from: result) { result = short }
    return result == bytes ? nil : String(decoding: result, as: UTF8.self)
  }

  /// Whether there is a secret in a payload, which cannot be taken out: it is signed, or seems to be.
  private mutating func isSecretive(_ payload: [UInt8]) -> Bool {
    let before = isFound
    defer { isFound = before }
    isFound = false
    if let value = try? JSONReader.read(payload) {
      _ = removed(from: value)
    } else {
      _ = tokensRemoved(from: Self.hasWord(payload) ? assignmentsRemoved(from: payload) : payload)
    }
    return isFound
  }

  /// `password=x`, `"password": "x"`, `\"password\":[\"x\"`: what comes after the word and a sign of assignment.
  private mutating func assignmentsRemoved(from bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    var place = 0
    while place < bytes.count {
      guard bytes[place] | 0x20 == Self.word[0], Self.isWord(in: bytes, at: place) else {
        result.append(bytes[place])
        place += 1
        continue
      }
      var value = place + Self.word.count
      var isAssigned = false
      while value < bytes.count, Self.signs.contains(bytes[value]) {
        isAssigned = isAssigned || bytes[value] == UInt8(ascii: ":") || bytes[value] == UInt8(ascii: "=")
        value += 1
      }
      result += bytes[place..<value]
      place = value
      guard isAssigned else { continue }
      while place < bytes.count, !Self.ends.contains(bytes[place]) { place += 1 }
      // Of a marker that stands there already the first byte is a sign, and the last an end.
      guard place > value, !bytes[(value - 1)..<min(place + 1, bytes.count)].elementsEqual(Self.marker.utf8) else {
        result += bytes[value..<place]
        continue
      }
      isFound = true
      result += Self.marker.utf8
    }
    return result
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

  /// Returns the bytes with a marker in every place of `password`; nil when it is not there.
  private static func without(_ password: [UInt8], in bytes: [UInt8]) -> [UInt8]? {
    var result: [UInt8] = []
    var taken = 0
    while let found = bytes.span.firstRange(of: password.span, from: taken, before: bytes.count) {
      result += bytes[taken..<found.lowerBound]
      result += marker.utf8
      taken = found.upperBound
    }
    return taken > 0 ? result + bytes[taken...] : nil
  }

  private static let word = Array("password".utf8)
  /// The place of the w in it.
  private static let rarest = 4
  private static let signs = Set("\"'\\ \t\r\n:=[{".utf8)
  private static let ends = Set("\"'\\ \t\r\n,;&]}".utf8)

  private static func isWord(_ text: String) -> Bool {
    text.utf8.count == word.count && text.utf8.elementsEqual(word) { $0 | 0x20 == $1 }
  }

  private static func isWord(in bytes: [UInt8], at place: Int) -> Bool {
    guard place + word.count <= bytes.count else { return false }
    for offset in word.indices where bytes[place + offset] | 0x20 != word[offset] { return false }
    return true
  }

  private static func hasWord(_ bytes: [UInt8]) -> Bool {
    // By the rarest of its letters.
    for letter in [UInt8(ascii: "w"), UInt8(ascii: "W")] {
      var place = rarest
      while let found = bytes.span.firstIndex(of: letter, from: place, before: bytes.count) {
        if isWord(in: bytes, at: found - rarest) { return true }
        place = found + 1
      }
    }
    return false
  }
}

extension JSONValue {
  fileprivate var isContainer: Bool {
    switch self {
    case .array, .object: true
    case .null, .bool, .integer, .number, .string: false
    }
  }
}
