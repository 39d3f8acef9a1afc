extension JSONValue {
  /// The value as compact JSON, members in their order.
  public func encoded() -> [UInt8] {
    var output: [UInt8] = []
    output.reserveCapacity(1_024)
    append(to: &output)
    return output
  }

  /// The value as compact JSON with the members of every object sorted by key: equal values, equal bytes.
  public func canonicallyEncoded() -> [UInt8] { sorted().encoded() }

  /// Appends the value as compact JSON.
  public func append(to output: inout [UInt8]) {
    switch self {
    case .null: output.append(contentsOf: "null".utf8)
    case .bool(let value): output.append(contentsOf: (value ? "true" : "false").utf8)
    case .integer(let value): output.append(contentsOf: String(value).utf8)
    case .number(let number): output.append(contentsOf: number.text.utf8)
    case .string(let value): Self.append(string: value, to: &output)
    case .array(let elements):
      output.append(UInt8(ascii: "["))
      for (index, element) in elements.enumerated() {
        if index > 0 { output.append(UInt8(ascii: ",")) }
        element.append(to: &output)
      }
      output.append(UInt8(ascii: "]"))
    case .object(let object): object.append(to: &output)
    }
  }

  /// Appends `string` quoted and escaped.
  public static func append(string: String, to output: inout [UInt8]) {
    output.append(UInt8(ascii: "\""))
    defer { output.append(UInt8(ascii: "\"")) }
    let bytes = string.utf8Span.span
    if bytes.endOfPlainText(from: 0) == bytes.count {
      output.append(contentsOf: string.utf8)
      return
    }
    for byte in string.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): output += [UInt8(ascii: "\\"), byte]
      case 0..<0x20:
        let digits = Array("0123456789abcdef".utf8)
        output.append(contentsOf: "\\u00".utf8)
        output += [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      default: output.append(byte)
      }
    }
  }

  private func sorted() -> JSONValue {
    switch self {
    case .null, .bool, .integer, .number, .string: self
    case .array(let elements): .array(elements.map { $0.sorted() })
    case .object(let object):
      .object(
        JSONObject(
          uniqueMembers: object.members.sorted { $0.key < $1.key }.map {
            JSONObject.Member(key: $0.key, value: $0.value.sorted())
          }))
    }
  }
}

extension JSONObject {
  /// The object as compact JSON, members in their order.
  public func encoded() -> [UInt8] {
    var output: [UInt8] = []
    output.reserveCapacity(1_024)
    append(to: &output)
    return output
  }

  /// Appends the object as compact JSON.
  public func append(to output: inout [UInt8]) {
    output.append(UInt8(ascii: "{"))
    for (index, member) in members.enumerated() {
      if index > 0 { output.append(UInt8(ascii: ",")) }
      JSONValue.append(string: member.key, to: &output)
      output.append(UInt8(ascii: ":"))
      member.value.append(to: &output)
    }
    output.append(UInt8(ascii: "}"))
  }
}
