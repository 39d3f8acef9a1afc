@testable import BulkMigration

/// What old back ends stored, judged row by row without a database.
@Suite struct `A row of a migration` {
  private static func judge(_ bundleID: String, in environment: Environment? = nil) -> RowClassifier {
    let app = App(id: App.ID(1), bundleID: bundleID, appAppleID: nil)
    return RowClassifier(
      intake: IngestDecider(adapter: MessageDecoder(verifier: SignedDataVerifier(roots: .apple))),
      directory: AppRegistrySnapshot(apps: [app], tokens: [:]),
      claims: RowClassifier.JobDefaults(app: app, environment: environment, receivedAt: Timestamp(1_790_000_000_000)))
  }

  private static func ids(
    _ text: String, id: String? = nil, of bundleID: String = "com.example.reader", in environment: Environment? = nil
  ) -> [String] {
    let row = TableRow(
      key: "1", content: Array(text.utf8), userID: "ada", app: nil, id: id, isTooLarge: false)
    switch judge(bundleID, in: environment).verdict(on: row) {
    case .content(let content): return content.ids.map(\.id)
    case .rejected(let reason, _): return ["rejected: \(reason.code)"]
    }
  }

  private static let row = #"{"original_transaction_id": "1000000700000001", "transaction_id": "1000000700000002"}"#

  @Test(arguments: [
    // A status of the old back end's own.
    #"{"original_transaction_id": "1000000700000001", "status": 1}"#,
    #"{"original_transaction_id": "1000000700000001", "status": "active"}"#,
    // An answer of verifyReceipt without its status, and its rows alone.
    #"{"latest_receipt_info": [\#(row)]}"#, #"{"latest_receipt_info": \#(row)}"#, "[\(row)]",
  ])
  func `names its id in whatever is left of an answer`(text: String) {
    #expect(Self.ids(text, in: .sandbox) == ["1000000700000001"])
  }

  @Test func `is its id where the receipt beside it is of no use, and not of another app`() throws {
    for damaged in ["MIIT" + String(repeating: "A", count: 400), "n/a", ""] {
      #expect(Self.ids(damaged, id: "1000000700000001") == ["1000000700000001"], "\(damaged.prefix(8))")
    }
    #expect(Self.ids("n/a") == ["rejected: notAReceipt"])
    let cordova = try #require(
      Samples.bytes("../cases/public-reports/02-object-with-id-drops-the-receipt/cordova.json"))
    let text = String(decoding: cordova, as: UTF8.self)
    #expect(Self.ids(text, id: "1000000700000001") == ["rejected: wrongBundle"])
    let proven = Self.ids(text, id: "1", of: "com.sumiapp.GridDiary")
    #expect(!proven.isEmpty)
    #expect(!proven.contains("1"))
    #expect(proven.allSatisfy { !$0.hasPrefix("rejected") && $0 != "appstore.application" })
  }

  /// The old back end refused it itself, and the id may be anybody's.
  @Test func `is its id without its user where the receipt beside it is forged`() throws {
    let cordova = try #require(
      Samples.bytes("../cases/public-reports/02-object-with-id-drops-the-receipt/cordova.json"))
    let object = try #require(try JSONReader.read(cordova).object)
    let text = try #require(SignedMember.all(in: object).first).text
    // The end of a receipt is its signature.
    let forged = Array(text.dropLast(60)) + Array(repeating: UInt8(ascii: "A"), count: 56) + text.suffix(4)
    let judge = Self.judge("com.sumiapp.GridDiary")
    for (content, user) in [(forged, false), (Array("n/a".utf8), true)] {
      let row = TableRow(
        key: "1", content: content, userID: "mallory", app: nil, id: "1000000700000001", isTooLarge: false)
      guard case .content(let content) = judge.verdict(on: row) else {
        Issue.record("rejected")
        continue
      }
      #expect(content.ids.map(\.id) == ["1000000700000001"])
      #expect((content.user != nil) == user)
    }
  }

  /// Else the ids of one would be asked about under the other's key.
  @Test func `is one receipt alone where the other is of another app`() throws {
    let apps = ["com.sumiapp.GridDiary", "com.vanillabreeze.igunbattle"].enumerated().map { number, bundleID in
      App(id: App.ID(number + 1), bundleID: bundleID, appAppleID: nil)
    }
    let receipts = try ["cordova", "rn-iap"].map { library in
      let bytes = try #require(
        Samples.bytes("../cases/public-reports/02-object-with-id-drops-the-receipt/\(library).json"))
      let object = try #require(try JSONReader.read(bytes).object)
      return String(decoding: try #require(SignedMember.all(in: object).first).text, as: UTF8.self)
    }
    let judge = RowClassifier(
      intake: Self.judge("").intake, directory: AppRegistrySnapshot(apps: apps, tokens: [:]),
      claims: RowClassifier.JobDefaults(app: nil, environment: nil, receivedAt: Timestamp(1_790_000_000_000)))
    func content(_ object: JSONObject) throws -> MigrationStep.Content {
      let row = TableRow(key: "1", content: object.encoded(), userID: nil, app: nil, id: nil, isTooLarge: false)
      let content: MigrationStep.Content? =
        if case .content(let content) = judge.verdict(on: row) { content } else { nil }
      return try #require(content)
    }
    let alone = try receipts.map { try content(["a": .string($0)]).ids.map(\.id) }
    let both = try content(["a": .string(receipts[0]), "b": .string(receipts[1])])
    let taken = try #require(apps.firstIndex { $0.id == both.place.app })
    #expect(both.ids.map(\.id) == alone[taken])
  }

  @Test func `is no answer in a member where something signed stands beside it`() throws {
    let answer: JSONObject = ["status": 0, "receipt": ["in_app": []]]
    let receipt = "MII" + String(repeating: "A", count: 400)
    #expect(DetectedContent.message(in: ["user_id": "ada", "response": .object(answer)]) == answer)
    #expect(DetectedContent.message(in: ["receipt": .string(receipt), "response": .object(answer)]) == nil)
    #expect(DetectedContent.message(in: ["user_id": "ada", "meta": ["status": 1, "retries": 2]]) == nil)
  }

  @Test func `of a client library is the receipt in it`() throws {
    let object = try #require(Samples.bytes("../cases/public-reports/02-object-with-id-drops-the-receipt/rn-iap.json"))
    let ids = Self.ids(String(decoding: object, as: UTF8.self), of: "com.vanillabreeze.igunbattle")
    #expect(ids == ["1000000056161764"])
    // Nobody named the app but the receipt.
    var judge = Self.judge("com.vanillabreeze.igunbattle")
    judge = RowClassifier(
      intake: judge.intake, directory: judge.directory,
      claims: RowClassifier.JobDefaults(app: nil, environment: nil, receivedAt: Timestamp(1_790_000_000_000)))
    let row = TableRow(key: "1", content: object, userID: nil, app: nil, id: nil, isTooLarge: false)
    guard case .content(let content) = judge.verdict(on: row) else {
      Issue.record("rejected")
      return
    }
    #expect(content.place.app == App.ID(1))
  }
}
