/// Values in the fewest bytes that each kind of them takes, and how many values each piece is.
private let densest: [(piece: String, values: Int)] = [
  ("[0],", 2), ("0,", 1), ("[[0]],", 3), ("{\"\":0},", 2), ("{\"0123456789abcdef\":0},", 2), ("[\"\",\"\"],", 3),
]

@Suite struct `The memory of what is read` {
  @Test(arguments: 0..<6)
  func `is bounded by a number of values`(kind: Int) throws {
    let (piece, values) = densest[kind]
    let limits = JSONLimits(bytes: 256 << 10, depth: 32)
    #expect(limits.values == 16_384)
    func list(_ count: Int) -> [UInt8] { Array("[\(String(repeating: piece, count: count))0]".utf8) }
    let most = (limits.values - 2) / values
    #expect(try JSONReader.read(list(most), limits: limits).array?.count == most + 1)
    let refused = #expect(throws: JSONError.self) { try JSONReader.read(list(most + 1), limits: limits) }
    #expect(refused?.code == .tooManyValues)
  }

  @Test func `is not bounded for short bodies, nor for what is stored`() throws {
    #expect(JSONLimits(bytes: 1_000, depth: 3).values == 4_096)
    let many = Array("[\(String(repeating: "0,", count: 100_000))0]".utf8)
    #expect(try JSONReader.read(many, limits: .stored).array?.count == 100_001)
    let refused = #expect(throws: JSONError.self) { try JSONReader.read(many) }
    #expect(refused?.code == .tooManyValues)
  }

  /// In a process of its own: what the tests beside it hold would blur the figures.
  @Test func `is thirteen bytes at the most for each byte of a body`() async {
    await #expect(processExitsWith: .success) {
      let limits = JSONLimits(bytes: 2 << 20, depth: 32)
      let start = residentBytes("VmRSS:")
      for (piece, values) in densest {
        try measure(body("[", (limits.values - 8) / values, limits, end: "\"]") { _ in piece }, limits, since: start)
      }
      let members = body("{", limits.values - 8, limits, end: "\"}") { "\"\(1_000_000 + $0)\":0," }
      try measure(members, limits, since: start)
    }
  }
}

/// A body of as many pieces as are asked for, and of one text as long as the limit of bytes allows.
private func body(
  _ opening: String, _ count: Int, _ limits: JSONLimits, end: String, piece: (Int) -> String
) -> [UInt8] {
  var bytes: [UInt8] = []
  bytes.reserveCapacity(limits.bytes)
  bytes += opening.utf8
  for number in 0..<count { bytes += piece(number).utf8 }
  bytes += (opening == "{" ? "\"\":\"" : "\"").utf8
  for _ in 0..<max(0, limits.bytes - bytes.count - end.utf8.count) { bytes.append(0x78) }
  bytes += end.utf8
  return bytes
}

private func measure(_ body: [UInt8], _ limits: JSONLimits, since start: Int) throws {
  let value = try JSONReader.read(body, limits: limits)
  precondition(!value.isNull)
  let figure = Double(residentBytes("VmHWM:") - start - body.count) / Double(body.count)
  print("at most \(figure) bytes for each byte, after \(String(decoding: body.prefix(24), as: UTF8.self))")
  precondition(figure <= 13, "\(figure) bytes for each byte")
}

/// Bytes in RAM, by a line of /proc/self/status: now, or the most so far.
private func residentBytes(_ name: String) -> Int {
  let descriptor = unsafe open("/proc/self/status", O_RDONLY | O_CLOEXEC)
  defer { close(descriptor) }
  var bytes = [UInt8](repeating: 0, count: 8 << 10)
  let count = unsafe bytes.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
  let lines = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(separator: "\n")
  let line = lines.first { $0.hasPrefix(name) } ?? ""
  return (Int(line.filter(\.isNumber)) ?? 0) * 1_024
}
