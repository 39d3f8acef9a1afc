/// One manipulation of signed data and the one reason for which it must be refused.
struct Attack: Sendable, CustomTestStringConvertible {
  let name: String
  let code: VerificationError.Code
  var expectation = ExpectedClaims()
  var now = Bench.now
  let forge: @Sendable () throws -> [UInt8]

  var testDescription: String { "\(name): \(code.rawValue)" }

  init(
    _ name: String, _ code: VerificationError.Code, expecting expectation: ExpectedClaims = ExpectedClaims(),
    _ forge: @escaping @Sendable () throws -> [UInt8]
  ) {
    self.name = name
    self.code = code
    self.expectation = expectation
    self.forge = forge
  }

  /// A signed transaction with its header changed.
  static func header(
    _ name: String, _ code: VerificationError.Code, _ change: @escaping @Sendable (inout JSONObject) -> Void
  ) -> Attack {
    Attack(name, code) {
      var header = Bench.pki.header
      change(&header)
      return try JWS.sign(
        headerBytes: header.encoded(), payloadBytes: Bench.transaction.encoded(), with: Bench.pki.signingKey())
    }
  }

  /// A valid transaction with the text of one segment changed.
  static func segment(
    _ index: Int, _ name: String, _ code: VerificationError.Code,
    _ change: @escaping @Sendable ([UInt8]) -> [UInt8]
  ) -> Attack {
    Attack(name, code) {
      var segments = try Bench.pki.sign(Bench.transaction).split(separator: UInt8(ascii: ".")).map(Array.init)
      segments[index] = change(segments[index])
      return Array(segments.joined(separator: [UInt8(ascii: ".")]))
    }
  }

  /// A transaction signed by certificates that were made wrong.
  static func certificates(
    _ name: String, _ code: VerificationError.Code, _ change: @escaping @Sendable (inout ApplePKI.Blueprint) -> Void
  ) -> Attack {
    Attack(name, code) { try Bench.below(Bench.pki, change).sign(Bench.transaction) }
  }

  /// A payload of this very text.
  static func payload(_ name: String, _ code: VerificationError.Code, _ text: String) -> Attack {
    Attack(name, code) { try Bench.pki.sign(payload: Array(text.utf8)) }
  }

  /// A transaction with other claims.
  static func claims(
    _ name: String, _ code: VerificationError.Code, expecting expectation: ExpectedClaims = ExpectedClaims(),
    _ changes: [String: JSONValue?]
  ) -> Attack {
    Attack(name, code, expecting: expectation) { try Bench.pki.sign(Bench.transaction.with(changes)) }
  }
}

extension Attack {
  /// On the bytes and the header, in the order of the checks.
  static let onFormat: [Attack] = [
    Attack("a quarter of a megabyte", .tooLarge) { [UInt8](repeating: UInt8(ascii: "a"), count: 256 << 10 + 1) },
    Attack("nothing", .notAJWS) { [] },
    Attack("one segment", .notAJWS) { Array("abcd".utf8) },
    Attack("two segments", .notAJWS) { Array("abcd.abcd".utf8) },
    Attack("four segments", .notAJWS) { try Bench.pki.sign(Bench.transaction) + Array(".abcd".utf8) },
    segment(0, "a foreign letter in the header", .invalidBase64) { [UInt8(ascii: "!")] + $0.dropFirst() },
    segment(1, "padding after the payload", .invalidBase64) { $0 + Array("=".utf8) },
    segment(2, "a line end after the signature", .invalidBase64) { $0 + Array("\n".utf8) },
    segment(2, "the standard alphabet in the signature", .invalidBase64) { Array("+/".utf8) + $0.dropFirst(2) },
    segment(2, "bits beyond the last byte", .invalidBase64) { $0.dropLast() + Array("_".utf8) },
    segment(0, "a header that is no JSON", .invalidJSON) { _ in Base64.url.encode(Array("{\"alg\"".utf8)) },
    segment(0, "a header that is an array", .invalidJSON) { _ in Base64.url.encode(Array("[]".utf8)) },
    segment(0, "a header of two algorithms", .duplicateKey) { _ in
      Base64.url.encode(Array(#"{"alg":"none","alg":"ES256"}"#.utf8))
    },
    header("a critical extension", .unsupportedCriticalHeader) { $0["crit"] = ["exp"] },
    header("a payload that is not encoded", .unsupportedCriticalHeader) { $0["b64"] = false },
    header("no x5c", .missingCertificates) { $0["x5c"] = nil },
    header("x5c that is a text", .missingCertificates) { $0["x5c"] = "MII" },
    header("no certificates", .wrongCertificateCount) { $0["x5c"] = [] },
    header("two certificates", .wrongCertificateCount) { $0["x5c"] = .array(($0["x5c"]?.array ?? []).dropLast()) },
    header("four certificates", .wrongCertificateCount) {
      $0["x5c"] = .array(($0["x5c"]?.array ?? []) + ["MII"])
    },
    header("alg none", .unsupportedAlgorithm) { $0["alg"] = "none" },
    header("alg ES384", .unsupportedAlgorithm) { $0["alg"] = "ES384" },
    header("alg HS256", .unsupportedAlgorithm) { $0["alg"] = "HS256" },
    header("no alg", .unsupportedAlgorithm) { $0["alg"] = nil },
    payload("a payload that is no JSON", .invalidJSON, "transaction"),
    payload("a payload that is an array", .invalidJSON, "[]"),
    payload("bytes after the payload", .invalidJSON, "{}{}"),
    payload("two bundle ids", .duplicateKey, #"{"bundleId":"a","environment":"Production","bundleId":"b"}"#),
    payload(
      "a payload nested without end", .tooDeep,
      #"{"a":"# + String(repeating: "[", count: 200) + String(repeating: "]", count: 200) + "}"),
  ]

  /// On the certificates and the signature.
  static let onTrust: [Attack] = [
    header("a leaf that is no base64", .malformedCertificate) { $0.replaceCertificate(0, by: "not base64") },
    header("a leaf that is no text", .malformedCertificate) { $0.replaceCertificate(0, by: 5) },
    header("a leaf that is no certificate", .malformedCertificate) { $0.replaceCertificate(0, by: "AAAA") },
    header("an intermediate that is no certificate", .malformedCertificate) { $0.replaceCertificate(1, by: "AAAA") },
    header("bytes after the leaf", .malformedCertificate) { header in
      let der = Bench.pki.leaf.certificate.der + [0]
      header.replaceCertificate(0, by: Bench.text(Base64.standard.encode(der)))
    },
    Attack("leaf and intermediate swapped", .swappedCertificates) {
      var pki = Bench.pki
      pki.certificates.swapAt(0, 1)
      return try pki.sign(Bench.transaction)
    },
    certificates("a leaf without Apple's marker", .missingLeafMarker) { $0.leaf.template.extensions = [] },
    Attack("the intermediate twice", .swappedCertificates) {
      var pki = Bench.pki
      pki.certificates[0] = pki.certificates[1]
      return try pki.sign(Bench.transaction)
    },
    Attack("the leaf twice", .missingIntermediateMarker) {
      var pki = Bench.pki
      pki.certificates[1] = pki.certificates[0]
      return try pki.sign(Bench.transaction)
    },
    certificates("an intermediate without Apple's marker", .missingIntermediateMarker) {
      $0.intermediate.template.extensions = []
    },
    Attack("a stranger's root of the same name", .unknownRoot) { try Bench.stranger.sign(Bench.transaction) },
    Attack("a stranger's chain with our root behind it", .unknownRoot) {
      var pki = Bench.stranger
      pki.certificates[2] = Bench.pki.certificates[2]
      return try pki.sign(Bench.transaction)
    },
    Attack("a self-signed certificate as the intermediate", .unknownRoot) {
      var blueprint = ApplePKI.Blueprint(at: Bench.now)
      blueprint.root.template.extensions = blueprint.intermediate.template.extensions
      let root = try CertificateAuthority.root(blueprint.root.template, key: .generate(.p384))
      let leaf = try root.issue(blueprint.leaf.template, to: .generate(.p256))
      return try ApplePKI(root: Bench.pki.root, intermediate: root, leaf: leaf).sign(Bench.transaction)
    },
    Attack("our leaf below a stranger's intermediate", .brokenChain) {
      var pki = Bench.pki
      pki.certificates[1] = Bench.stranger.certificates[1]
      return try pki.sign(Bench.transaction)
    },
    Attack("a stranger's leaf below our intermediate", .brokenChain) {
      var pki = Bench.stranger
      pki.certificates[1] = Bench.pki.certificates[1]
      return try pki.sign(Bench.transaction)
    },
    Attack("a leaf of the root itself", .brokenChain) {
      let leaf = try Bench.pki.root.issue(ApplePKI.Blueprint(at: Bench.now).leaf.template, to: .generate(.p256))
      return try ApplePKI(root: Bench.pki.root, intermediate: Bench.pki.intermediate, leaf: leaf)
        .sign(Bench.transaction)
    },
    certificates("an intermediate that is no authority", .brokenChain) {
      $0.intermediate.template.isAuthority = false
      $0.intermediate.template.pathLength = nil
    },
    certificates("an intermediate without basicConstraints", .brokenChain) {
      $0.intermediate.template.isAuthority = nil
      $0.intermediate.template.pathLength = nil
    },
    certificates("an intermediate that may not sign certificates", .brokenChain) {
      $0.intermediate.template.keyUsage = "critical,digitalSignature"
    },
    certificates("a critical extension that nobody knows", .brokenChain) {
      $0.leaf.template.extensions.append(.init(identifier: "1.2.3.4.5", isCritical: true, value: [5, 0]))
    },
    certificates("a leaf expired when it signed", .notValidAtSigning) {
      $0.leaf.template.notAfter = Bench.now - .seconds(1)
    },
    certificates("a leaf not valid yet when it signed", .notValidAtSigning) {
      $0.leaf.template.notBefore = Bench.now + .seconds(1)
    },
    certificates("an intermediate expired when its leaf signed", .notValidAtSigning) {
      $0.intermediate.template.notAfter = Bench.now - .seconds(1)
    },
    certificates("certificates that are never valid together", .notValidAtSigning) {
      $0.intermediate.template.notAfter = Bench.now - .days(1)
      $0.leaf.template.notBefore = Bench.now
    },
    claims("a date long before the certificates", .notValidAtSigning, ["signedDate": 1_577_836_800_000]),
    claims("a date in the year 1", .notValidAtSigning, ["signedDate": -62_135_769_600_000]),
    Attack("a leaf with a P-384 key", .leafKeyNotP256) {
      try signedElsewhere(.p384)
    },
    Attack("a leaf with an RSA key", .leafKeyNotP256) {
      try signedElsewhere(.rsa2048)
    },
    segment(2, "half a signature", .malformedSignature) { Array($0.prefix(44)) },
    segment(2, "no signature", .malformedSignature) { _ in [] },
    Attack("a signature in DER", .malformedSignature) {
      let input = try Bench.pki.sign(Bench.transaction).split(separator: UInt8(ascii: ".")).dropLast()
        .joined(separator: [UInt8(ascii: ".")])
      let der = try Bench.pki.leaf.key.signature(of: Array(input))
      return Array(input) + Array(".".utf8) + Base64.url.encode(der)
    },
    segment(2, "a signature of zeros", .badSignature) { _ in Base64.url.encode([UInt8](repeating: 0, count: 64)) },
    segment(2, "a signature of ones", .badSignature) { _ in Base64.url.encode([UInt8](repeating: 255, count: 64)) },
    segment(1, "another payload under the signature", .badSignature) { _ in
      Base64.url.encode(Bench.transaction.with(["productId": "pro.yearly"]).encoded())
    },
    segment(0, "another member in the header", .badSignature) { _ in
      var header = Bench.pki.header
      header["kid"] = "another"
      return Base64.url.encode(header.encoded())
    },
    Attack("signed by another leaf than the header's", .badSignature) {
      try JWS.sign(
        headerBytes: Bench.pki.header.encoded(), payloadBytes: Bench.transaction.encoded(),
        with: Bench.stranger.signingKey())
    },
  ]

  private static func signedElsewhere(_ kind: PrivateKey.Kind) throws -> [UInt8] {
    let pki = try Bench.below(Bench.pki) { $0.leaf.key = kind }
    return try JWS.sign(
      headerBytes: pki.header.encoded(), payloadBytes: Bench.transaction.encoded(), with: Bench.pki.signingKey())
  }
}

extension JSONObject {
  fileprivate mutating func replaceCertificate(_ index: Int, by value: JSONValue) {
    var certificates = self["x5c"]?.array ?? []
    certificates[index] = value
    self["x5c"] = .array(certificates)
  }
}
