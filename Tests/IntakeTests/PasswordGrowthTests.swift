@testable import Intake

/// What is kept instead of a body: a code is longer than most passwords, and a stranger chooses the password.
@Suite struct `A body without its passwords` {
  private let key = MasterKey.generate()

  private func kept(_ text: String) -> [UInt8] { LegacyPassword.redacted(Array(text.utf8), key: key) }

  private static func list(_ item: String, _ count: Int) -> String {
    "[" + Array(repeating: item, count: count).joined(separator: ",") + "]"
  }

  /// 260 KB came to 7 MB.
  @Test(arguments: [
    #""x":\#(list(#""a""#, 5_000)),"password":"a""#, #""password":"a","x":\#(list(#""a""#, 20_000))"#,
    #""x":\#(list(#"{"password":"a"}"#, 5_000)),"password":"a""#,
    #""x":\#(list(#"{"password":1}"#, 5_000)),"password":"a""#,
    #""x":\#(list(#""secrets!""#, 5_000)),"password":"secrets!""#,
    #""password":"a","PASSWORD":\#(list("1", 8_000))"#,
    #""password":"a","password ":1,"x":{"Password":\#(list("{\"a\":1}", 3_000))}"#,
    #""password":\#(list("1", 8_000))"#,
    #""x":["\#((0..<30).map { #"a"},{"password":"\#($0)"# }.joined())"],"y":\#(list(#""7""#, 5_000))"#
      .replacing(#"["a"},"#, with: "[").replacing(#""],"y""#, with: #""}],"y""#),
    #""password":"a","x":"\#(String(repeating: "password=1&", count: 5_000))""#,
  ])
  func `is at most twice as long, and 1 KiB`(members: String) throws {
    let text = #"{"notification_type":"X",\#(members)}"#
    #expect((try? JSONReader.read(Array(text.utf8))) != nil)
    let kept = kept(text)
    #expect(kept.count <= 2 * text.utf8.count + 1_024, "\(kept.count) of \(text.utf8.count)")
    #expect(try JSONReader.read(kept, limits: .stored).object != nil)
    #expect(kept.firstRange(of: Array(#""password":"a""#.utf8)) == nil)
    // As a search of what is stored finds it: it has nothing more to do.
    let again = LegacyPassword.redaction(of: kept, isStored: true, limits: .stored, key: key)
    #expect(again.body == kept)
  }

  @Test func `gets Apple's own password back, however often somebody repeats it`() throws {
    let text = #"{"password":"a","bid":"b","x":\#(Self.list(#"{"password":"a"}"#, 5_000)),"y":["a"]}"#
    let kept = kept(text)
    let restored = try #require(
      LegacyPassword.restored(kept, secrets: [Array("a".utf8)], keys: Keyring(current: key)))
    let object = try #require(JSONReader.read(restored.body).object)
    #expect(object["password"] == "a" && object["bid"] == "b")
    #expect(object["x"]?.array?.first == ["password": .string(HiddenSecrets.marker)] && object["y"] == ["a"])
  }

  @Test func `keeps a code in each of a few places, so that all come back`() throws {
    let text = #"{"password":"a","x":["a","a","b"],"y":{"password":"a"}}"#
    let restored = LegacyPassword.restored(kept(text), secrets: [Array("a".utf8)], keys: Keyring(current: key))
    #expect(restored?.body == Array(text.utf8))
  }
}

@Suite struct `A body of the greatest length` {
  private static let limit = 1 << 20
  private static let secret = "5ec7e75ec7e75ec7e75ec7e75ec7e75e"
  private let key = MasterKey.generate()

  /// One place is changed where it stands; for a second the whole body is written anew.
  @Test(arguments: [
    "", #""y":"5ec7e75ec7e75ec7e75ec7e75ec7e75e","#, #""y":"\n","z":{"password":"5ec7e75ec7e75ec7e75ec7e75ec7e75e"},"#,
  ])
  func `is read without its password, and comes back with it`(more: String) throws {
    let head = #"{"notification_type":"X","password":"\#(Self.secret)",\#(more)"x":""#
    for (length, isRead) in [(Self.limit, true), (Self.limit + 1, false)] {
      let fill = String(repeating: "z", count: length - head.utf8.count - 2)
      let text = Array((head + fill + #""}"#).utf8)
      #expect(text.count == length)
      let notification = ReceivedNotification(
        text, key: key, secrets: SecretFilter(), receivedAt: Milliseconds(1_767_600_000_000))
      #expect((notification.body.legacyNotification != nil) == isRead)
      guard isRead else { continue }
      let message = notification.message
      #expect(message.body.count > Self.limit)
      #expect(ReceivedNotification(message).body.legacyNotification != nil, "a replay reads it")
      #expect(MessageIdentity(ofNotification: message.body).digest == message.digest, "it is the same message")
      let restored = LegacyPassword.restored(
        message.body, secrets: [Array(Self.secret.utf8)], keys: Keyring(current: key))
      let value = try JSONReader.read(text)
      #expect(restored.flatMap { try? JSONReader.read($0.body, limits: .stored) } == value)
      if more.isEmpty { #expect(restored?.body == text) }
    }
  }
}
