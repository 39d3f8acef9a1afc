/// What every test here needs: one PKI for all of them, an adapter that trusts it for Sandbox alone, an app.
enum Bench {
  /// 2026-01-05T08:00:00Z.
  static let start = Timestamp(1_767_600_000_000)
  static let pki: ApplePKI = make()
  static let forger: ApplePKI = make()
  static let app = SimulatedApp(name: "Bench", bundleID: "com.example.bench", appAppleID: 1_234_567_890)

  static func verifier() throws -> SignedDataVerifier {
    SignedDataVerifier(roots: TrustedRoots.apple.adding([try pki.trustedRoot()], for: .sandbox))
  }

  static func adapter() throws -> MessageDecoder { MessageDecoder(verifier: try verifier()) }

  private static func make() -> ApplePKI {
    do { return try ApplePKI.generate(at: start) } catch { preconditionFailure("no PKI: \(error)") }
  }
}

extension MessageDecoder {
  /// What Apple posts, read at a time after everything here was signed.
  func read(_ body: [UInt8]) throws(MessageError) -> DecodedMessage {
    try notification(body, message: .sha256(body), now: Bench.start + .days(700))
  }
}
