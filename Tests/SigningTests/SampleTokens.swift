extension Samples {
  static func required(_ path: String) throws -> [UInt8] { try #require(bytes(path), "sample \(path)") }

  /// A JWS in a file, without the line end.
  static func token(_ path: String) throws -> [UInt8] {
    Array(try required(path).reversed().drop { $0 == UInt8(ascii: "\n") }.reversed())
  }
}
