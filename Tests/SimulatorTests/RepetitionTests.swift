@testable import Simulator

@Suite struct `The same seed` {
  @Test func `tells the same story`() {
    let (a, b) = (Story.twoApps(seed: 1, start: Bench.start), Story.twoApps(seed: 1, start: Bench.start))
    #expect(a.scenes == b.scenes)
    #expect(a.scenes != Story.twoApps(seed: 2, start: Bench.start).scenes)
  }

  @Test func `signs the same bytes of every payload`() throws {
    func payloads(_ pki: ApplePKI) throws -> [[UInt8]?] {
      try Story.twoApps(seed: 1, start: Bench.start).told(by: pki, forger: Bench.forger).map {
        $0.notification.flatMap { Self.withoutSignatures($0.signedPayload) }
      }
    }
    #expect(try payloads(Bench.pki) == payloads(Bench.forger))
  }

  @Test func `makes the same stream, one by one or all at once`() async throws {
    var stream = try Self.stream(seed: 3)
    var one: [[UInt8]?] = []
    for _ in 0..<1_300 { one.append(Self.withoutSignatures(try stream.next().signedPayload)) }
    let all = try await Self.stream(seed: 3).generate(1_300) { Self.withoutSignatures($0.signedPayload) }
    #expect(one == all)
    let later = try await Self.stream(seed: 3).generate(100, from: 700) { Self.withoutSignatures($0.signedPayload) }
    #expect(later == Array(one[700..<800]))
    #expect(try await Self.stream(seed: 4).generate(10, keeping: \.notificationUUID) != stream.firstUUIDs(10))
  }

  static func stream(seed: UInt64, pki: ApplePKI = Bench.pki) throws -> NotificationStream {
    try NotificationStream(seed: seed, app: Bench.app, pki: pki, start: Bench.start)
  }

  /// The payload with each nested JWS reduced to its payload: neither certificates nor signatures are repeatable.
  private static func withoutSignatures(_ jws: [UInt8]) -> [UInt8]? {
    let segments = jws.split(separator: UInt8(ascii: "."))
    guard segments.count == 3, let payload = Base64.url.decode(Array(segments[1])),
      let value = try? JSONReader.read(payload), var object = value.object
    else { return nil }
    for carrier in ["data", "appData"] {
      guard var data = object[carrier]?.object else { continue }
      for member in data where member.key.hasPrefix("signed") {
        let nested = member.value.string.flatMap { withoutSignatures(Array($0.utf8)) } ?? []
        data[member.key] = .string(String(decoding: nested, as: UTF8.self))
      }
      object[carrier] = .object(data)
    }
    return object.encoded()
  }
}

extension NotificationStream {
  /// The UUIDs of the first notifications.
  fileprivate func firstUUIDs(_ count: Int) -> [String] { drafts(ofBlock: 0).prefix(count).map(\.notificationUUID) }
}
