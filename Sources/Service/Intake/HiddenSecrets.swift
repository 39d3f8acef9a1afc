import JSON
import Ledger
import Runtime
import Signing

/// Takes secrets out of bodies where Apple never puts them, before the body is kept or anything of it is logged.
///
/// A marker stands in their place, which cannot be turned back into the secret. What is looked for:
/// * whatever stands below a member `password`, in upper or lower case, other than the plain text that `LegacyPassword`
///   replaces by its code;
/// * a password inside a longer text: JSON or a form within a string, or a text that repeats one of the body's;
/// * a shared secret of a registered app, wherever it stands: 32 hexadecimal digits, as Apple makes them;
/// * a bundle id of 32 hexadecimal digits, which is a secret in the wrong place.
struct HiddenSecrets {
  /// Whether this is the code of a shared secret that is registered.
  typealias Known = (SecretCode) -> Bool

  static let marker = "[redacted]"

  private let key: MasterKey
  private let isKnown: Known
  /// Passwords that stand in the body, and the codes in their places.
  private let told: [[UInt8]]
  private let codes: Set<String>
  /// The texts of which it was asked whether they are registered secrets; every other is taken for one, unasked.
  private var answers: [[UInt8]: Bool] = [:]
  /// Whether anything was replaced.
  private(set) var isFound = false

  private static let mostAsked = 256
  private static let digits = 32
  /// JSON within strings within strings.
  private static let mostNested = 4

  /// A shorter password is looked for as a whole text alone: it may be a word of its own.
  private static let shortest = 8
  private static let mostTold = 16

  /// - Parameters:
  ///   - told: the passwords of the body, with the codes that stand in their places by now.
  ///   - isKnown: whether a code is of a registered secret.
  init(key: MasterKey, told: [String: String] = [:], isKnown: @escaping Known) {
    (self.key, self.isKnown) = (key, isKnown)
    codes = Set(told.values)
    self.told = told.keys.map { Array($0.utf8) }.filter { $0.count >= Self.shortest }.sorted {
      $0.count != $1.count ? $0.count > $1.count : $0.lexicographicallyPrecedes($1)
    }.prefix(Self.mostTold).map(\.self)
  }

  /// Whether a body has anything in it that is worth reading it for.
  static func mayBe(in body: [UInt8]) -> Bool {
    if hasDigits(in: body) || hasWord(body) { return true }
    // An escape may spell anything.
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

  /// Returns a bundle id as it may be logged: one that looks like a secret is none.
  static func shown(bundleID: String) -> String { isSecretShaped(bundleID) ? marker : bundleID }

  private static func isSecretShaped(_ text: String) -> Bool {
    text.utf8.count == digits && text.utf8.allSatisfy(\.isHexDigit)
  }

  /// Returns the value without the secrets that are hidden in it.
  mutating func removed(from value: JSONValue) -> JSONValue { removed(from: value, nested: 0) }

  /// Returns the bytes without registered secrets: for a body that is not JSON.
  mutating func removed(fromText body: [UInt8]) -> [UInt8] { tokensRemoved(from: body) ?? body }

  private mutating func removed(from value: JSONValue, nested: Int) -> JSONValue {
    switch value {
    case .object(let object):
      let members = object.map { member in
        JSONObject.Member(key: member.key, value: removed(from: member, nested: nested))
      }
      return .object(JSONObject(uniqueMembers: keysRemoved(from: members)))
    case .array(let values): return .array(values.map { removed(from: $0, nested: nested) })
    case .string(let text): return .string(removed(from: text, nested: nested))
    case .null, .bool, .integer, .number: return value
    }
  }

  private mutating func removed(from member: JSONObject.Member, nested: Int) -> JSONValue {
    if Self.isWord(member.key) {
      // Its plain text has a code already.
      if case .string(let text) = member.value, codes.contains(text) { return member.value }
      return blank(member.value)
    }
    if case .string(let text) = member.value, ["bid", "bundle_id", "bundleId"].contains(member.key),
      Self.isSecretShaped(text)
    {
      isFound = true
      return .string(Self.marker)
    }
    return removed(from: member.value, nested: nested)
  }

  /// A registered secret as the name of a member.
  private mutating func keysRemoved(from members: [JSONObject.Member]) -> [JSONObject.Member] {
    var names: Set<String> = []
    return members.enumerated().map { place, member in
      guard member.key.utf8.count >= Self.digits, let short = tokensRemoved(from: Array(member.key.utf8)) else {
        return member
      }
      let name = String(decoding: short, as: UTF8.self)
      let isNew = names.insert(name).inserted
      return JSONObject.Member(key: isNew ? name : "\(name) \(place)", value: member.value)
    }
  }

  /// Everything below a member that is called a password.
  private mutating func blank(_ value: JSONValue) -> JSONValue {
    switch value {
    case .null, .bool: return value
    case .string(let text) where text.isEmpty || text == Self.marker: return value
    case .string, .integer, .number:
      isFound = true
      return .string(Self.marker)
    case .array(let values): return .array(values.map { blank($0) })
    case .object(let object):
      return .object(
        JSONObject(uniqueMembers: object.map { JSONObject.Member(key: $0.key, value: blank($0.value)) }))
    }
  }

  private mutating func removed(from text: String, nested: Int) -> String {
    guard text.utf8.count > Self.word.count, !codes.contains(text) else { return text }
    let bytes = Array(text.utf8)
    var result = bytes
    for password in told {
      guard let short = Self.without(password, in: result) else { continue }
      isFound = true
      result = short
    }
    if Self.hasWord(bytes) {
      if let inner = try? JSONReader.read(result), inner.isContainer {
        guard nested < Self.mostNested else {
          isFound = true
          return Self.marker
        }
        let before = isFound
        isFound = false
        let short = removed(from: inner, nested: nested + 1)
        if isFound { return String(decoding: short.encoded(), as: UTF8.self) }
        isFound = before
        return result == bytes ? text : String(decoding: result, as: UTF8.self)
      }
      result = assignmentsRemoved(from: result)
    }
    if let short = tokensRemoved(from: result) { result = short }
    return result == bytes ? text : String(decoding: result, as: UTF8.self)
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
      guard place > value, !bytes[value..<place].elementsEqual(Self.marker.utf8) else {
        result += bytes[value..<place]
        continue
      }
      isFound = true
      result += Self.marker.utf8
    }
    return result
  }

  /// Returns the bytes without registered secrets; nil when there is none.
  private mutating func tokensRemoved(from bytes: [UInt8]) -> [UInt8]? {
    guard bytes.count >= Self.digits else { return nil }
    var result: [UInt8] = []
    // What of `bytes` is in `result`.
    var taken = 0
    var start = 0
    for place in 0...bytes.count where place == bytes.count || !bytes[place].isHexDigit {
      var at = start
      while at + Self.digits <= place {
        guard isSecret(bytes[at..<(at + Self.digits)]) else {
          at += 1
          continue
        }
        result += bytes[taken..<at]
        result += Self.marker.utf8
        // Where no more are asked about, what is left of the row is not looked at either.
        at = answers.count == Self.mostAsked ? place : at + Self.digits
        taken = at
      }
      start = place + 1
    }
    guard taken > 0 else { return nil }
    isFound = true
    return result + bytes[taken...]
  }

  /// Returns the bytes with a marker in every place of `password`; nil when it is not there.
  private static func without(_ password: [UInt8], in bytes: [UInt8]) -> [UInt8]? {
    guard let first = password.first else { return nil }
    var result: [UInt8] = []
    var (taken, place) = (0, 0)
    while let found = bytes.span.firstIndex(of: first, from: place, before: bytes.count) {
      place = found + 1
      guard found + password.count <= bytes.count, bytes[found..<(found + password.count)].elementsEqual(password)
      else { continue }
      result += bytes[taken..<found]
      result += marker.utf8
      place = found + password.count
      taken = place
    }
    return taken > 0 ? result + bytes[taken...] : nil
  }

  private mutating func isSecret(_ token: ArraySlice<UInt8>) -> Bool {
    let token = Array(token)
    // Thousands of rows may name one product by such digits.
    if let answer = answers[token] { return answer }
    // No body of Apple's has so many: a secret must not hide among them.
    guard answers.count < Self.mostAsked else { return true }
    let answer = isKnown(SecretCode(of: token, under: key))
    answers[token] = answer
    return answer
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

extension UInt8 {
  fileprivate var isHexDigit: Bool {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
      UInt8(ascii: "A")...UInt8(ascii: "F"):
      true
    default: false
    }
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
