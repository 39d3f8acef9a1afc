import Signing

/// Changes a signed payload and leaves its signature as it was.
enum Tampering {
  /// The JWS with the version of its payload raised: what it says is another thing, its form as good as before.
  static func changed(_ jws: [UInt8]) -> [UInt8] {
    var segments = jws.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map(Array.init)
    guard segments.count == 3, var payload = Base64.url.decode(segments[1]) else { return jws }
    let honest = Array(#""version":"2.0""#.utf8)
    guard let place = payload.indices.last(where: { payload[$0...].starts(with: honest) }) else { return jws }
    payload[place + honest.count - 2] = UInt8(ascii: "9")
    segments[1] = Base64.url.encode(payload)
    return Array(segments.joined(separator: [UInt8(ascii: ".")]))
  }
}
