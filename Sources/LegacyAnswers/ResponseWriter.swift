import JSON
import Mappings
import Time

/// Writes the bytes of an answer, each field by the row that it comes from.
struct ResponseWriter {
  private(set) var bytes: [UInt8] = []
  private let cutsToSeconds: Bool
  private let trace: ResponseTrace?
  private var isFirst = true
  private var dates = V1DateFormatter()

  init(capacity: Int, cutsToSeconds: Bool, trace: ResponseTrace?) {
    bytes.reserveCapacity(capacity)
    self.cutsToSeconds = cutsToSeconds
    self.trace = trace
  }

  // MARK: Structure

  mutating func begin() {
    bytes.append(UInt8(ascii: "{"))
    isFirst = true
  }

  mutating func end() {
    bytes.append(UInt8(ascii: "}"))
    isFirst = false
  }

  mutating func object(_ key: String, _ write: (inout Self) -> Void) {
    label(Array(",\"\(key)\":".utf8))
    trace?.enter(key)
    begin()
    write(&self)
    end()
    trace?.leave()
  }

  mutating func array(_ key: String, _ count: Int, _ write: (inout Self, Int) -> Void) {
    label(Array(",\"\(key)\":[".utf8))
    for place in 0..<count {
      if place > 0 { bytes.append(UInt8(ascii: ",")) }
      if let trace { trace.enter("\(key)[\(place)]") }
      begin()
      write(&self, place)
      end()
      trace?.leave()
    }
    bytes.append(UInt8(ascii: "]"))
    isFirst = false
  }

  // MARK: Fields

  mutating func text(_ plan: FieldRule, _ value: String, _ origin: ResponseFieldTable.Origin) {
    label(plan.labels.plain)
    JSONValue.append(string: value, to: &bytes)
    trace?.note(plan.key, plan.id, origin)
  }

  /// Plain ASCII that needs no escape.
  mutating func word(_ plan: FieldRule, _ value: StaticString, _ origin: ResponseFieldTable.Origin) {
    label(plan.labels.plain)
    bytes.append(UInt8(ascii: "\""))
    for byte in value.description.utf8 { bytes.append(byte) }
    bytes.append(UInt8(ascii: "\""))
    trace?.note(plan.key, plan.id, origin)
  }

  mutating func flag(_ plan: FieldRule, _ value: Bool, _ origin: ResponseFieldTable.Origin) {
    label(plan.labels.plain)
    bytes.append(contentsOf: value ? Self.quotedTrue : Self.quotedFalse)
    trace?.note(plan.key, plan.id, origin)
  }

  /// A whole number as a string.
  mutating func digits(_ plan: FieldRule, _ value: Int64, _ origin: ResponseFieldTable.Origin) {
    label(plan.labels.plain)
    bytes.append(UInt8(ascii: "\""))
    V1DateFormatter.append(value, to: &bytes)
    bytes.append(UInt8(ascii: "\""))
    trace?.note(plan.key, plan.id, origin)
  }

  /// A whole number as a JSON number.
  mutating func number(_ plan: FieldRule, _ value: Int64, _ origin: ResponseFieldTable.Origin) {
    label(plan.labels.plain)
    V1DateFormatter.append(value, to: &bytes)
    trace?.note(plan.key, plan.id, origin)
  }

  /// A date in V1's three ways; `isExact` keeps the milliseconds.
  mutating func date(
    _ plan: FieldRule, _ date: Timestamp, _ origin: ResponseFieldTable.Origin, isExact: Bool = false
  ) {
    let shown = isExact || !cutsToSeconds ? date : Timestamp(date.wholeSeconds * 1_000)
    label(plan.labels.plain)
    dates.appendGMT(shown, to: &bytes)
    bytes.append(contentsOf: plan.labels.second)
    appendQuoted(shown.sinceEpoch)
    bytes.append(contentsOf: plan.labels.third)
    dates.appendPacific(shown, to: &bytes)
    noteDate(plan, origin)
  }

  /// A date as iOS 6 has it: milliseconds in the key itself.
  mutating func flatDate(_ plan: FieldRule, _ date: Timestamp, _ origin: ResponseFieldTable.Origin) {
    let shown = cutsToSeconds ? Timestamp(date.wholeSeconds * 1_000) : date
    label(plan.labels.plain)
    appendQuoted(shown.sinceEpoch)
    bytes.append(contentsOf: plan.labels.second)
    dates.appendGMT(shown, to: &bytes)
    bytes.append(contentsOf: plan.labels.third)
    dates.appendPacific(shown, to: &bytes)
    noteDate(plan, origin)
  }

  /// A pair whose key no table has: what iOS 6 signed.
  mutating func pair(_ key: String, _ value: String, rule: String) {
    if !isFirst { bytes.append(UInt8(ascii: ",")) }
    isFirst = false
    JSONValue.append(string: key, to: &bytes)
    bytes.append(UInt8(ascii: ":"))
    JSONValue.append(string: value, to: &bytes)
    trace?.note(key, rule, .receipt)
  }

  /// A member that no row of `answer-fields.tsv` has.
  mutating func member(_ key: String, _ value: JSONValue) {
    label(Array(",\"\(key)\":".utf8))
    value.append(to: &bytes)
  }

  /// Notes an object or array without members of its own, which is a leaf too.
  func noteEmpty(_ key: String, rule: String) { trace?.note(key, rule, .composed) }

  private func noteDate(_ plan: FieldRule, _ origin: ResponseFieldTable.Origin) {
    guard let trace else { return }
    for suffix in ["", plan.suffixes.second, plan.suffixes.third] { trace.note(plan.key + suffix, plan.id, origin) }
  }

  private mutating func appendQuoted(_ value: Int64) {
    bytes.append(UInt8(ascii: "\""))
    V1DateFormatter.append(value, to: &bytes)
    bytes.append(UInt8(ascii: "\""))
  }

  private mutating func label(_ label: [UInt8]) {
    if isFirst {
      bytes.append(contentsOf: label[1...])
      isFirst = false
    } else {
      bytes.append(contentsOf: label)
    }
  }

  private static let quotedTrue = Array("\"true\"".utf8)
  private static let quotedFalse = Array("\"false\"".utf8)
}
