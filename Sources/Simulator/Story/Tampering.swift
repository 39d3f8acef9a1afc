import Signing

/// Changes a signed payload without its signature.
enum Tampering {
  /// Returns the JWS with a higher version in its payload, still well-formed.
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
