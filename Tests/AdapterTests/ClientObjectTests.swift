@testable import Adapter

/// What client libraries make of a purchase, as ../shared/cases/public-reports/02 has it, and variants of it.
@Suite struct `A client library's object` {
  private static let place = "../cases/public-reports/02-object-with-id-drops-the-receipt"

  private static func object(_ name: String) throws -> JSONObject {
    let bytes = try #require(Samples.bytes("\(place)/\(name).json"))
    return try #require(try JSONReader.read(bytes).object)
  }

  private static func adapter() throws -> MessageDecoder {
    let root = try #require(Samples.bytes("\(place)/expo-root.der"))
    return MessageDecoder(
      verifier: SignedDataVerifier(roots: TrustedRoots(exactly: try RootCertificate.read(root))),
      receipts: ReceiptReader())
  }

  private static func read(
    _ object: JSONObject, of app: String, in environment: Environment? = nil
  ) throws -> DecodedMessage {
    let bytes = object.encoded()
    return try adapter().evidence(
      bytes, app: app, environment: environment, message: .sha256(bytes), now: Bench.now)
  }

  /// The object, the same one deeper, and as a JSON text inside another object.
  private static func forms(_ object: JSONObject) -> [JSONObject] {
    let text = JSONValue.string(String(decoding: object.encoded(), as: UTF8.self))
    return [
      object, ["platform": "ios", "purchase": .object(object)], ["receipt": text], ["transactionId": "1", "a": text],
    ]
  }

  @Test func `is the receipt in it`() throws {
    for object in Self.forms(try Self.object("cordova")) {
      let reading = try Self.read(object, of: "com.sumiapp.GridDiary")
      #expect(reading.title.hasPrefix("receipt of"))
      #expect(reading.trust == .receipt)
      #expect(reading.environment == .production)
      #expect(ReceivedBody(object.encoded()).proof == .signature)
    }
    #expect(throws: MessageError.self) { try Self.read(Self.object("cordova"), of: "com.example.another") }
  }

  /// Anybody can put somebody else's id beside a receipt of their own.
  @Test func `names an id beside what is signed that is not in it, and asks nobody by it`() throws {
    var object = try Self.object("cordova")
    let told = try Self.read(object, of: "com.sumiapp.GridDiary")
    object["transactionId"] = "2000000900000009"
    let reading = try Self.read(object, of: "com.sumiapp.GridDiary")
    #expect(reading.findings.seeds == told.findings.seeds)
    #expect(reading.survey.unknownFields == ["transactionId"])
    object["transactionId"] = told.findings.seeds.first.map { .string($0.transactionID) }
    #expect(try Self.read(object, of: "com.sumiapp.GridDiary").survey.unknownFields.isEmpty)
  }

  @Test func `is the signed transaction in it, in its environment`() throws {
    for object in Self.forms(try Self.object("expo-iap")) {
      let reading = try Self.read(object, of: "com.example.reader")
      #expect(reading.title == "transaction")
      #expect(reading.environment == .sandbox)
      #expect(ReceivedBody(object.encoded()).proof == .signatures)
    }
  }

  @Test func `is every signed transaction in it`() throws {
    var purchases: [JSONValue] = []
    for id in ["1", "2", "3"] {
      let transaction = Bench.with(Bench.transaction, "transactionId", .string(id))
      let jws = try Bench.signedValue(Bench.with(transaction, "originalTransactionId", .string(id)))
      purchases.append(.object(["id": .string(id), "purchaseToken": jws, "jwsRepresentationIOS": jws]))
    }
    let object: JSONObject = ["userId": "ada", "purchases": .array(purchases)]
    let findings = try Bench.adapter.evidence(
      object.encoded(), app: Bench.app, environment: nil, message: .sha256([]), now: Bench.now
    ).findings
    #expect(findings.originalTransactionIDs.sorted() == ["1", "2", "3"])
    #expect(findings.userIDs.map(\.originalTransactionID).sorted() == ["1", "2", "3"])
  }

  /// Of a receipt of iOS 6 nothing signed tells the environment: with none given its id is what counts.
  @Test func `is the receipt of iOS 6 in it where the environment is given, else its id`() throws {
    let object = try Self.object("rn-iap")
    let told = try Self.read(object, of: "com.vanillabreeze.igunbattle", in: .sandbox)
    #expect(told.title == "receipt of 1")
    #expect(try Self.read(object, of: "com.vanillabreeze.igunbattle").findings.seeds.count == 1)
  }

  @Test func `is its id if what is signed is damaged, and names what was not read`() throws {
    var object = try Self.object("expo-iap")
    for key in ["purchaseToken", "jwsRepresentationIOS"] {
      object[key] = object[key]?.string.map { .string(String($0.dropLast(8)) + "AAAAAAAA") }
    }
    let reading = try Self.read(object, of: "com.example.reader")
    #expect(reading.title == "id")
    #expect(reading.findings.purchases.isEmpty)
    #expect(reading.survey.unknownFields.contains("purchaseToken"))
    object["transactionId"] = nil
    #expect(throws: MessageError.self) { try Self.read(object, of: "com.example.reader") }
  }

  @Test func `is no answer, notification or id that is read as one`() throws {
    #expect(SignedMember.all(in: ["transactionId": "2000000000000001", "userId": "MI"]).isEmpty)
    var deep: JSONObject = ["jws": try #require(try Self.object("expo-iap")["purchaseToken"])]
    for _ in 0..<3 { deep = ["inner": .object(deep)] }
    #expect(SignedMember.all(in: deep).isEmpty)
  }
}
