/// A receipt that must not be believed, how it is made, and the one reason for which it is refused.
struct Attack: Sendable, CustomTestStringConvertible {
  let name: String
  let reason: ReceiptError.Code
  let make: @Sendable () throws -> [UInt8]

  var testDescription: String { name }

  init(_ name: String, _ reason: ReceiptError.Code, _ make: @escaping @Sendable () throws -> [UInt8]) {
    (self.name, self.reason, self.make) = (name, reason, make)
  }

  private static func signed(_ signers: SignedReceiptMessage.Signers) throws -> [UInt8] {
    var message = Bench.message()
    message.signers = signers
    return try message.signed(by: Bench.pki)
  }

  static let all: [Attack] = [
    Attack("signed by nobody", .notSigned) { try signed(.none) },
    Attack("signed by two", .unsupportedSignature) { try signed(.two) },
    Attack("signed attributes of other content", .badSignature) { try signed(.withAttributesOfOtherContent) },
    Attack("signed attributes without a digest", .unsupportedSignature) { try signed(.withoutDigest) },
    Attack("another digest", .unsupportedSignature) { try signed(.otherDigest) },
    Attack("another kind of signature", .unsupportedSignature) { try signed(.otherScheme) },
    Attack("signed below a foreign root of the same name", .unknownRoot) {
      try Bench.message().signed(by: Bench.stranger)
    },
    Attack("foreign signer beside the trusted root", .unknownRoot) {
      var pki = Bench.stranger
      pki.certificates[2] = Bench.pki.root.certificate.der
      return try Bench.message().signed(by: pki)
    },
    Attack("signer of a foreign intermediate that names the trusted root", .unknownRoot) {
      var pki = Bench.stranger
      pki.certificates.append(Bench.pki.root.certificate.der)
      pki.certificates.append(Bench.pki.intermediate.certificate.der)
      return try Bench.message().signed(by: pki)
    },
    Attack("without the marker", .missingMarker) {
      try Bench.message().signed(by: Bench.below { $0.leaf.extensions = [] })
    },
    Attack("with the intermediate's marker on the signer", .missingMarker) {
      try Bench.message().signed(by: Bench.below { $0.leaf.extensions = [.init(.intermediate)] })
    },
    Attack("signed by the intermediate itself, which may not", .unknownRoot) {
      try Bench.message().signed(by: Bench.pki, with: Bench.pki.intermediate.key, naming: Bench.pki.intermediate)
    },
    Attack("signer that had expired", .notValidAtDate) {
      try Bench.message().signed(by: Bench.below { $0.leaf.notAfter = Bench.now - .seconds(1) })
    },
    Attack("signer that was not valid yet", .notValidAtDate) {
      try Bench.message().signed(by: Bench.below { $0.leaf.notBefore = Bench.now + .seconds(1) })
    },
    Attack("intermediate that had expired", .notValidAtDate) {
      try Bench.message().signed(by: Bench.below { $0.intermediate.notAfter = Bench.now - .seconds(1) })
    },
    Attack("signed with another key", .badSignature) {
      try Bench.message().signed(by: Bench.pki, with: Bench.stranger.leaf.key)
    },
    Attack("altered content", .badSignature) {
      var bytes = try Bench.message().signed(by: Bench.pki)
      let place = try #require(bytes.firstRange(of: Array("coins.100".utf8)))
      bytes.replaceSubrange(place, with: Array("coins.999".utf8))
      return bytes
    },
    Attack("backdated content", .badSignature) {
      var bytes = try Bench.message().signed(by: Bench.below { $0.leaf.notAfter = Bench.now - .days(1) })
      let place = try #require(bytes.firstRange(of: Array("2026-01-01T00".utf8)))
      bytes.replaceSubrange(place, with: Array("2025-01-01T00".utf8))
      return bytes
    },
    Attack("altered signature", .badSignature) {
      var bytes = try Bench.message().signed(by: Bench.pki)
      bytes[bytes.count - 1] ^= 1
      return bytes
    },
    Attack("the signer's certificate swapped for another of the same name", .unknownSigner) {
      var pki = Bench.pki
      pki.certificates[0] = Bench.stranger.leaf.certificate.der
      return try Bench.message().signed(by: pki)
    },
    Attack("without the signer's certificate", .unknownSigner) {
      var pki = Bench.pki
      pki.certificates.removeFirst()
      return try Bench.message().signed(by: pki)
    },
    Attack("without any certificate", .unknownSigner) {
      var pki = Bench.pki
      pki.certificates = []
      return try Bench.message().signed(by: pki)
    },
    Attack("without the intermediate", .unknownRoot) {
      var pki = Bench.pki
      pki.certificates.remove(at: 1)
      return try Bench.message().signed(by: pki)
    },
    Attack("a certificate that cannot be read", .malformedCertificate) {
      var pki = Bench.pki
      pki.certificates[1] = [0x30, 0x03, 0x02, 0x01, 0x00]
      return try Bench.message().signed(by: pki)
    },
    Attack("an intermediate that may not issue", .unknownRoot) {
      try Bench.message().signed(
        by: Bench.below {
          $0.intermediate.isAuthority = false
          $0.intermediate.pathLength = nil
          $0.intermediate.keyUsage = "critical,digitalSignature"
        })
    },
    Attack("a signer that may not sign", .unknownRoot) {
      try Bench.message().signed(by: Bench.below { $0.leaf.keyUsage = "critical,keyEncipherment" })
    },
    Attack("an elliptic curve", .unknownSigner) {
      var blueprint = ReceiptPKI.Blueprint(at: Bench.now)
      blueprint.key = .p256
      let pki = try ReceiptPKI.generate(below: Bench.pki.root, blueprint)
      return try Bench.message().signed(by: pki)
    },
    Attack("without a date", .missingDate) {
      let content = Bench.receipt.content
      let place = try #require(content.firstRange(of: [0x02, 0x01, 12, 0x02, 0x01, 0x01]))
      var changed = content
      changed[place.lowerBound + 2] = 99
      return try Bench.message(changed).signed(by: Bench.pki)
    },
    Attack("of Xcode", .xcodeReceipt) {
      var receipt = Bench.receipt
      receipt.receiptType = "Xcode"
      return try Bench.message(receipt.content).signed(by: Bench.stranger)
    },
    Attack("iOS 6, version 3, signed below a foreign root", .unknownRoot) {
      try SimulatedTransactionReceipt(Bench.transactions[0]).encoded(signedBy: Bench.stranger.transactionSigner)
    },
    Attack("iOS 6, version 3, issuer not in it and not known", .unknownRoot) {
      try SimulatedTransactionReceipt(Bench.transactions[0]).encoded(signedBy: Bench.pki.leaf)
    },
    Attack("iOS 6, version 3, without the marker", .missingMarker) {
      let signer = try Bench.below { $0.leaf.extensions = [] }.transactionSigner
      return try SimulatedTransactionReceipt(Bench.transactions[0]).encoded(signedBy: signer)
    },
    Attack("iOS 6, version 3, expired signer", .notValidAtDate) {
      let signer = try Bench.below { $0.leaf.notAfter = Bench.now - .days(100) }.transactionSigner
      return try SimulatedTransactionReceipt(Bench.transactions[0]).encoded(signedBy: signer)
    },
    Attack("iOS 6 with another version", .badSignature) {
      var receipt = SimulatedTransactionReceipt(Bench.transactions[0])
      receipt.version = 4
      return try receipt.encoded(signedBy: Bench.pki.transactionSigner)
    },
    Attack("iOS 6, another purchase-info", .badSignature) {
      let signer = Bench.pki.transactionSigner
      let text = try SimulatedTransactionReceipt(Bench.transactions[0]).encoded(signedBy: signer)
      let other = SimulatedTransactionReceipt(Bench.transactions[2])
      let plain = String(decoding: try #require(Base64.standard.decode(text)), as: UTF8.self)
      let info = SimulatedTransactionReceipt(Bench.transactions[0]).purchaseInfo
      func base64(_ bytes: [UInt8]) -> String { String(decoding: Base64.standard.encode(bytes), as: UTF8.self) }
      return Array(plain.replacing(base64(info), with: base64(other.purchaseInfo)).utf8)
    },
  ]
}

@Suite struct `A forged receipt` {
  /// What is forged here OpenSSL's CMS does not believe either, where it can be asked.
  @Test(arguments: Attack.all)
  func `is refused by OpenSSL as well`(attack: Attack) throws {
    // These are what Apple does not do, though one could: more signers, other digests, other keys than RSA.
    let ours: Set<ReceiptError.Code> = [.unsupportedSignature, .missingDate, .xcodeReceipt]
    let bytes = try attack.make()
    guard !ours.contains(attack.reason), attack.name != "an elliptic curve", bytes.first == 0x30 else { return }
    guard case .app(let receipt)? = Bench.reader.read(bytes).receipt else { return }
    let date = try #require(receipt.createdAt)
    let root = Bench.pki.root.certificate.fingerprint
    #expect(CMSVerification.content(of: bytes, trustedRoots: [root], validAt: date) == nil)
  }

  @Test(arguments: Attack.all)
  func `is refused for its reason, and can still be read`(attack: Attack) throws {
    let bytes = try attack.make()
    let reading = Bench.reader.read(bytes)
    #expect(reading.refusal?.code == attack.reason)
    #expect(reading.receipt?.bundleID == Bench.app.bundleID)
  }

  /// Every attack again with everything good already kept, so that no cache makes anything believable.
  @Test func `is not believed for what was verified before`() throws {
    let reader = ReceiptReader(trust: Bench.trust)
    #expect(reader.read(try Bench.message().signed(by: Bench.pki)).refusal == nil)
    #expect(reader.read(try Bench.receipt.encoded(signedBy: Bench.pki, hash: .sha1)).refusal == nil)
    for attack in Attack.all {
      #expect(reader.read(try attack.make()).refusal?.code == attack.reason, "\(attack.name)")
    }
  }

  @Test func `of another app is refused when one is expected`() throws {
    let text = try Bench.receipt.encoded(signedBy: Bench.pki)
    #expect(Bench.reader.read(text, expecting: "com.example.other").refusal?.code == .wrongBundle)
    #expect(Bench.reader.read(text, expecting: Bench.app.bundleID).refusal == nil)
  }

  /// Pieces cut out, put in twice and overwritten, in both writings of the message and in an iOS 6 receipt.
  @Test func `is refused when mangled at random, or says the same`() async throws {
    var random = SeededRandom()
    var indefinite = Bench.message()
    indefinite.isIndefinite = true
    let transaction = try SimulatedTransactionReceipt(Bench.transactions[0])
      .encoded(signedBy: Bench.pki.transactionSigner)
    let originals = [
      try Bench.message().signed(by: Bench.pki), try indefinite.signed(by: Bench.pki),
      try #require(Base64.standard.decode(transaction)),
    ]
    for original in originals {
      let good = try #require(Bench.reader.read(original).receipt)
      for round in 0..<400 {
        if round.isMultiple(of: 32) { await Task.yield() }
        var changed = original
        let start = Int.random(in: 0..<changed.count, using: &random)
        let end = min(changed.count, start + Int.random(in: 1...40, using: &random))
        switch Int.random(in: 0..<3, using: &random) {
        case 0: changed.removeSubrange(start..<end)
        case 1: changed.insert(contentsOf: changed[start..<end], at: end)
        default: for index in start..<end { changed[index] = .random(in: .min ... .max, using: &random) }
        }
        let reading = Bench.reader.read(changed)
        if reading.refusal == nil { #expect(Self.facts(reading.receipt) == Self.facts(good), "seed \(random.seed)") }
      }
    }
  }

  /// What is signed: not what stands beside it.
  private static func facts(_ receipt: Receipt?) -> [String] {
    switch receipt {
    case .app(let receipt)?: ["\(receipt)"]
    case .transaction(let receipt)?:
      [
        receipt.bundleID, receipt.productID, receipt.transactionID, receipt.originalTransactionID,
        receipt.purchaseDate.map { $0.iso8601 }, receipt.expiresDate.map { $0.iso8601 },
      ].map { $0 ?? "" }
    case nil: []
    }
  }

  @Test func `is refused when changed anywhere, or says the same`() async throws {
    let bytes = try Bench.message().signed(by: Bench.pki)
    let good = try #require(Bench.reader.read(bytes).receipt)
    for index in bytes.indices {
      var changed = bytes
      changed[index] ^= index.isMultiple(of: 2) ? 0x01 : 0x80
      let reading = Bench.reader.read(changed)
      if reading.refusal == nil { #expect(reading.receipt == good, "byte \(index)") }
      // Others have time limits.
      if index.isMultiple(of: 32) { await Task.yield() }
    }
  }
}
