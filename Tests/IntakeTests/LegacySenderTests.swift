@testable import Intake

@Suite struct `The sender of a V1 notification` {
  private static let apps = ["com.example.a", "com.example.b", "com.example.c", "com.example.bare"].enumerated().map {
    App(id: App.ID($0 + 1), bundleID: $1, appAppleID: nil)
  }
  /// Two secrets of a at once; b and c share their account's; bare has none.
  private static let directory = AppRegistrySnapshot(
    apps: apps, tokens: [:],
    secrets: SharedSecrets([
      App.ID(1): [Array("old".utf8), Array("new".utf8)], App.ID(2): [Array("shared".utf8)],
      App.ID(3): [Array("shared".utf8), Array("own".utf8)],
    ]))

  /// The app, or the code of the refusal.
  private func sender(
    bid: String? = nil, password: String? = nil, path: String? = nil, noted: String? = nil,
    in directory: AppRegistrySnapshot = Self.directory
  ) -> String {
    var body: JSONObject = ["notification_type": "RENEWAL"]
    body["bid"] = bid.map(JSONValue.string)
    body["password"] = password.map(JSONValue.string)
    do throws(MessageError) {
      return try V1SenderResolver(body, pathApp: path, notedApp: noted, in: directory).app.bundleID
    } catch {
      #expect(error.kind == .legacy && !error.detail.isEmpty)
      return error.code
    }
  }

  @Test(
    arguments: [
      ("com.example.a", "old", nil, "com.example.a"), ("com.example.a", "new", "com.example.a", "com.example.a"),
      (nil, "new", nil, "com.example.a"), (nil, "own", nil, "com.example.c"),
      (nil, "shared", "com.example.b", "com.example.b"), (nil, "shared", "com.example.c", "com.example.c"),
      ("com.example.b", "shared", nil, "com.example.b"),
    ] as [(String?, String?, String?, String)])
  func `is the app of its bid, else of its secret, else of its URL`(
    bid: String?, password: String?, path: String?, app: String
  ) { #expect(sender(bid: bid, password: password, path: path) == app) }

  @Test(
    arguments: [
      ("com.example.a", nil, nil, "missingSharedSecret"), ("com.example.a", "own", nil, "wrongSharedSecret"),
      (nil, "unheard", "com.example.a", "wrongSharedSecret"), (nil, nil, "com.example.a", "missingSharedSecret"),
      ("com.example.bare", "old", nil, "noSharedSecret"), (nil, "unheard", "com.example.bare", "noSharedSecret"),
      ("com.example.x", "old", nil, "unknownApp"), (nil, "unheard", "com.example.x", "unknownApp"),
      ("com.example.a", "old", "com.example.b", "wrongBundle"), (nil, "old", "com.example.b", "wrongBundle"),
      (nil, "shared", "com.example.a", "wrongBundle"), (nil, "shared", nil, "appNotNamed"),
      (nil, "unheard", nil, "appNotNamed"), (nil, nil, nil, "appNotNamed"),
    ] as [(String?, String?, String?, String)])
  func `is refused with a reason of its own`(bid: String?, password: String?, path: String?, code: String) {
    #expect(sender(bid: bid, password: password, path: path) == code)
  }

  @Test func `is told apart when its secret is there but does not open`() {
    let directory = AppRegistrySnapshot(
      apps: Self.apps, tokens: [:],
      unopened: [CredentialTable.Unopened(app: App.ID(1), name: "4f", reason: "wrongKey: …")])
    #expect(sender(bid: "com.example.a", password: "old", in: directory) == "noSharedSecret")
  }

  /// Anybody may have posted it to another app's URL before Apple did.
  @Test func `is the app of its secret in a replay, and the noted one where that does not tell`() {
    #expect(sender(password: "own", noted: "com.example.b") == "com.example.c")
    #expect(sender(password: "shared", noted: "com.example.b") == "com.example.b")
    #expect(sender(noted: "com.example.b") == "missingSharedSecret")
    #expect(sender(bid: "com.example.a", password: "old", noted: "com.example.b") == "com.example.a")
  }

  @Test func `is known by its message with the secret that came, however it is written`() {
    func identity(_ text: String) -> [UInt8] { MessageIdentity(ofNotification: ReceivedBody(Array(text.utf8))).bytes }
    let own = identity(#"{"notification_type":"CANCEL","bid":"a", "password":"one"}"#)
    #expect(identity(#"{ "notification_type" : "CANCEL","bid":"a","p\u0061ssword":"one"}"#) == own)
    for other in [#""bid":"a","password":"two"}"#, #""bid":"a"}"#, #""bid":"b","password":"one"}"#] {
      #expect(identity(#"{"notification_type":"CANCEL","# + other) != own)
    }
  }
}
