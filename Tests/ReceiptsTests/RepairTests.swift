/// What clients, forms, tables and logs do to the text of a receipt.
struct Damage: Sendable, CustomTestStringConvertible {
  let name: String
  let repairs: Set<ReceiptRepair>
  let apply: @Sendable (String) -> String

  var testDescription: String { name }

  init(_ name: String, _ repairs: Set<ReceiptRepair>, _ apply: @escaping @Sendable (String) -> String) {
    (self.name, self.repairs, self.apply) = (name, repairs, apply)
  }

  static let all: [Damage] = [
    Damage("a line break at the end", []) { $0 + "\r\n" },
    Damage("space around", []) { " \t\($0)\n\n" },
    Damage("spaces for +", [.spacesForPlus]) { $0.replacing("+", with: " ") },
    Damage("lines of 64", [.lineBreaks]) { lines($0, "\n") },
    Damage("lines of 64 as Windows ends them", [.lineBreaks]) { lines($0, "\r\n") },
    Damage("indented lines", [.lineBreaks]) { lines($0, "\n  ") },
    Damage("a space after every 64", [.lineBreaks]) { lines($0, " ") },
    Damage("percent escapes", [.percentEscapes]) {
      $0.replacing("+", with: "%2B").replacing("/", with: "%2f").replacing("=", with: "%3D")
    },
    Damage("percent escapes twice", [.percentEscapes]) {
      $0.replacing("+", with: "%252B").replacing("/", with: "%252F").replacing("=", with: "%253D")
    },
    Damage("escaped line breaks", [.percentEscapes, .lineBreaks]) { lines($0, "%0D%0A") },
    Damage("the url-safe alphabet", [.urlSafeAlphabet]) {
      $0.replacing("+", with: "-").replacing("/", with: "_")
    },
    Damage("the url-safe alphabet without padding", [.urlSafeAlphabet, .missingPadding]) {
      $0.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    },
    Damage("no padding", [.missingPadding]) { $0.replacing("=", with: "") },
    Damage("quotes", [.quotes]) { "\"\($0)\"" },
    Damage("single quotes", [.quotes]) { "'\($0)'" },
    Damage("the quotes of a string in a string", [.quotes, .escapes]) { "\"\\\"\($0)\\\"\"" },
    Damage("JSON's escapes", [.escapes]) { $0.replacing("/", with: "\\/") },
    Damage("JSON's numbers", [.escapes]) { $0.replacing("+", with: "\\u002b").replacing("=", with: "\\u003D") },
    Damage("JSON's line breaks", [.escapes, .lineBreaks]) { lines($0, "\\n") },
    Damage("base64 of base64", [.doubleBase64]) { base64($0) },
    Damage("base64 of base64 of base64", [.doubleBase64]) { base64(base64($0)) },
    Damage("lines of base64 of lines", [.doubleBase64, .lineBreaks]) { lines(base64(lines($0, "\n")), "\n") },
    Damage("a byte order mark", []) { "\u{FEFF}\($0)" },
  ]

  private static func base64(_ text: String) -> String {
    String(decoding: Base64.standard.encode(Array(text.utf8)), as: UTF8.self)
  }

  private static func lines(_ text: String, _ end: String) -> String {
    let letters = Array(text)
    return stride(from: 0, to: letters.count, by: 64).map { String(letters[$0..<min($0 + 64, letters.count)]) }
      .joined(separator: end)
  }
}

@Suite struct `A damaged receipt` {
  /// Texts whose length leaves one, two and no padding.
  private static let texts: [String] = {
    do {
      return try (0..<3).map { number in
        var receipt = Bench.receipt
        receipt.applicationVersion = String(repeating: "7", count: 4 + number)
        return String(decoding: try receipt.encoded(signedBy: Bench.pki), as: UTF8.self)
      } + [
        String(
          decoding: try SimulatedTransactionReceipt(Bench.transactions[0]).encoded(
            signedBy: Bench.pki.transactionSigner), as: UTF8.self)
      ]
    } catch { preconditionFailure("\(error)") }
  }()

  @Test(arguments: Damage.all) func `is mended and verified`(damage: Damage) throws {
    for text in Self.texts {
      let reading = Bench.reader.read(Array(damage.apply(text).utf8))
      #expect(reading.receipt == Bench.reader.read(Array(text.utf8)).receipt)
      guard case .verified(let verified) = reading else {
        Issue.record("\(String(describing: reading.refusal))")
        continue
      }
      #expect(verified.repairs.isSubset(of: damage.repairs))
    }
  }

  @Test func `says what was mended`() {
    for damage in Damage.all {
      let seen = Self.texts.map { text -> Set<ReceiptRepair> in
        guard case .verified(let verified) = Bench.reader.read(Array(damage.apply(text).utf8)) else { return [] }
        return verified.repairs
      }
      #expect(seen.reduce(into: Set()) { $0.formUnion($1) } == damage.repairs, "\(damage.name)")
    }
  }
}

@Suite struct `What is no receipt` {
  private static let text = Array(Self.make().utf8)

  private static func make() -> String {
    do { return String(decoding: try Bench.receipt.encoded(signedBy: Bench.pki), as: UTF8.self) } catch {
      preconditionFailure("\(error)")
    }
  }

  @Test(
    arguments: [
      ("", .empty), (" \n\t ", .empty), ("\u{FEFF}", .empty), ("receipt?", .notBase64), ("MII=AAA", .notBase64),
      ("NULL", .notAReceipt), ("hello", .notAReceipt), ("aGVsbG8gd29ybGQh", .notAReceipt),
      ("{\"status\":21002}", .notAReceipt), ("{ \"a\" = \"b\"; }", .notAReceipt),
      ("{ \"purchase-info\" = \"?\"; }", .notAReceipt), ("{ \"signature\" = \"", .truncated),
      ("{ \"purchase-info\" = \"e30=\"; \"purchase-info\" = \"e30=\"; }", .notAReceipt),
      ("MIIBCgKCAQEA", .truncated), ("MIAGCSqGSIb3DQEHAqCA", .truncated), ("MIEBAg==", .notAReceipt),
      ("MIEGAgEBAgEC", .notAReceipt),
    ] as [(String, ReceiptError.Code)])
  func `is refused with the reason`(text: String, reason: ReceiptError.Code) {
    let reading = Bench.reader.read(Array(text.utf8))
    #expect(reading.refusal?.code == reason)
    #expect(reading.receipt == nil)
    #expect(throws: Bench.refusal(reason)) { try Bench.reader.readUnverified(Array(text.utf8)).get() }
  }

  @Test func `because it was cut off is refused as such, wherever it was cut`() {
    let message = Base64.standard.decode(Self.text) ?? []
    for count in stride(from: 2, to: message.count, by: 97) {
      #expect(Bench.reader.read(Array(message.prefix(count))).refusal?.code == .truncated)
    }
    for count in stride(from: 8, to: Self.text.count - 3, by: 131) {
      #expect(Bench.reader.read(Array(Self.text.prefix(count))).refusal?.code == .truncated)
    }
  }

  @Test(
    arguments: [
      (["bundleId": "a", "originalTransactionId": "1"], .transaction),
      (["autoRenewStatus": 1, "environment": "Sandbox"], .renewal),
      (["receiptType": "Sandbox", "bundleId": "a"], .appTransaction), (["notificationType": "TEST"], .notification),
      (["x": 1], nil),
    ] as [(JSONObject, PayloadKind?)])
  func `because it is a JWS is refused with its kind`(payload: JSONObject, kind: PayloadKind?) throws {
    let jws = try ApplePKI.generate(at: Bench.now).sign(payload)
    for text in [jws, Array("\"".utf8) + jws + Array("\"\n".utf8), Base64.standard.encode(jws)] {
      let refusal = Bench.reader.read(text).refusal
      #expect(refusal?.code == .jwsGiven)
      #expect(refusal?.jwsKind == kind)
    }
  }

  @Test func `because it is too large is refused unread`() {
    let reader = ReceiptReader(trust: Bench.trust, limits: .init(bytes: 1_000))
    #expect(reader.read([UInt8](repeating: 0x41, count: 1_001)).refusal?.code == .tooLarge)
    // In base64, as it is kept, it would be.
    #expect(reader.read([0x30, 0x82] + [UInt8](repeating: 0, count: 760)).refusal?.code == .tooLarge)
    #expect(reader.read([0x30, 0x82] + [UInt8](repeating: 0, count: 700)).refusal?.code != .tooLarge)
  }

  @Test func `because it is nested without end is refused`() {
    let sequences = [UInt8](repeating: 0, count: 4_000).indices.map { UInt8($0 % 2 == 0 ? 0x30 : 0x80) }
    #expect(Bench.reader.read(sequences).refusal?.code == .tooDeep)
    // A message whose content is octet strings within octet strings.
    let start = Array("MIAGCSqGSIb3DQEHAqCAMIACAQExADCABgkqhkiG9w0BBwGggA==".utf8)
    let head = Base64.standard.decode(start) ?? []
    let strings = (0..<1_000).map { UInt8($0 % 2 == 0 ? 0x24 : 0x80) }
    #expect(Bench.reader.read(head + strings).refusal?.code == .tooDeep)
  }

  @Test func `because it has too many parts is refused`() throws {
    let reader = ReceiptReader(trust: Bench.trust, derLimits: DERLimits(count: 300))
    #expect(reader.read(Self.text).refusal?.code == .tooMany)
    let list = "{" + (0..<100).map { "\"k\($0)\" = \"v\";" }.joined() + "}"
    #expect(Bench.reader.read(Array(list.utf8)).refusal?.code == .tooMany)
  }
}
