@testable import Intake

@Suite struct `The sender of a V1 notification` {
  private static let key = MasterKey.generate()
  private static let apps = ["com.example.a", "com.example.b", "com.example.c", "com.example.bare"].enumerated().map {
    App(id: App.ID($0 + 1), bundleID: $1, appAppleID: nil)
  }
  /// Two secrets of a at once; b and c share their account's; bare has none.
  private static let directory = AppDirectory(
    apps: apps, tokens: [:],
    secrets: [
      App.ID(1): [code("old"), code("new")], App.ID(2): [code("shared")], App.ID(3): [code("shared"), code("own")],
    ])

  private static func code(_ secret: String) -> SecretCode { SecretCode(of: Array(secret.utf8), under: key) }

  /// The app, or the code of the refusal.
  private func sender(
    bid: String? = nil, password: String? = nil, path: String? = nil, in directory: AppDirectory = Self.directory
  ) -> String {
    var body: JSONObject = ["notification_type": "RENEWAL"]
    body["bid"] = bid.map(JSONValue.string)
    body["password"] = password.map(JSONValue.string)
    let redacted = try? JSONReader.read(LegacyPassword.redacted(body.encoded(), key: Self.key)).object
    do throws(Refusal) {
      return try LegacySender(redacted ?? [:], pathApp: path, in: directory).app.bundleID
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
    let directory = AppDirectory(
      apps: Self.apps, tokens: [:],
      unopened: [CredentialTable.Unopened(app: App.ID(1), name: "4f", reason: "wrongKey: …")])
    #expect(sender(bid: "com.example.a", password: "old", in: directory) == "noSharedSecret")
  }

  @Test func `is known by its message whatever secret and master key it was kept with`() throws {
    let body = Array(#"{"notification_type":"CANCEL","bid":"a", "password":"one"}"#.utf8)
    let other = Array(#"{"notification_type":"CANCEL", "password":"two","bid":"a"}"#.utf8)
    let identities = [
      body, other, LegacyPassword.redacted(body, key: Self.key), LegacyPassword.redacted(body, key: .generate()),
    ].map { MessageIdentity(ofNotification: $0).bytes }
    #expect(Set(identities).count == 1)
    #expect(
      identities[0] != MessageIdentity(ofNotification: Array(#"{"notification_type":"CANCEL","bid":"b"}"#.utf8)).bytes)
  }
}
