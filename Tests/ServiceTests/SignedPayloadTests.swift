@testable import Intake
@testable import Service

/// A V2 notification in which a shared secret stands that Apple never puts there.
@Suite struct `A signed payload with a secret in it` {
  private static let secret = "5ec7e75ec7e75ec7e75ec7e75ec7e75e"

  private func encoded(_ text: String) -> String {
    String(decoding: Base64.url.encode(Array(text.utf8)), as: UTF8.self)
  }

  /// Header, payload and signature.
  private func jws(_ header: String, _ payload: String, _ signature: String) -> String {
    "\(encoded(header)).\(encoded(payload)).\(signature)"
  }

  private func forged(_ variant: String) -> String {
    let (header, tail) = (#"{"alg":"ES256","x5c":["AA","BB","CC"]}"#, String(repeating: "A", count: 86))
    let payload = #"{"data":{"bundleId":"\#(RunningService.app)"}}"#
    let secret = Self.secret
    return switch variant {
    case "header": jws(#"{"alg":"ES256","x5c":["AA","BB","CC"],"k":"\#(secret)"}"#, payload, tail)
    case "payload": jws(header, #"{"data":{"bundleId":"\#(secret)"}}"#, tail)
    case "payload, short signature": jws(header, #"{"data":{"bundleId":"\#(secret)"}}"#, "AA")
    case "signature": jws(header, payload, encoded(secret + secret))
    case "a letter over in the header": "\(encoded(#"{"k":"\#(secret)","a":1}"#))A.\(encoded(payload)).\(tail)"
    case "padding in the payload": "\(encoded(header)).\(encoded(#"{"k":"\#(secret)"}"#))=.\(tail)"
    case "bits over in the payload": "\(encoded(header)).\(encoded(#"{"k":"\#(secret)"}"#).dropLast())_.\(tail)"
    case "a foreign letter": "\(encoded(header)).AAAA!\(encoded(#"{"k":"\#(secret)"}"#)).\(tail)"
    case "no JSON": jws(header, "MARKER \(secret)", tail)
    case "password in the header": jws(#"{"alg":"ES256","x5c":[],"password":"somebodys"}"#, payload, tail)
    case "password in the payload": jws(header, #"{"password":"somebodys"}"#, tail)
    case "password in no JSON": jws(header, #"{"password":"somebodys",}"#, tail)
    default: jws(header, #"{"data":{"signedTransactionInfo":"\#(jws(#"{"k":"\#(secret)"}"#, "{}", tail))"}}"#, tail)
    }
  }

  private func kept(_ service: RunningService) async throws -> [String] {
    try await service.pool.read { session throws(DatabaseError) in
      try QuarantineTable.page(after: nil, code: nil, digestPrefix: nil, limit: 1_000, in: session).map {
        String(decoding: $0.message.body, as: UTF8.self)
      }
    }
  }

  @Test func `is quarantined without it, and known again`() async throws {
    try await RunningService.with { service in
      try await service.register(secret: Self.secret)
      // The first V1 body has the service read what is registered.
      let known: JSONObject = [
        "notification_type": "DID_RENEW", "environment": "Sandbox", "bid": .string(RunningService.app),
        "password": .string(Self.secret),
        "unified_receipt": [
          "environment": "Sandbox", "status": 0, "latest_receipt_info": [], "pending_renewal_info": [],
        ],
      ]
      _ = try await service.post("/notifications", known.encoded())
      let variants = [
        "header", "payload", "payload, short signature", "signature", "no JSON", "password in the header",
        "password in the payload", "password in no JSON", "within", "a letter over in the header",
        "padding in the payload", "bits over in the payload", "a foreign letter",
      ]
      for variant in variants {
        for isWrapped in [false, true] {
          _ = try await service.pool.transaction { session throws(DatabaseError) in
            try session.execute("DELETE FROM quarantine")
          }
          var body: JSONObject = ["signedPayload": .string(forged(variant))]
          if isWrapped { body["x"] = .string(Self.secret) }
          let first = try await service.post("/notifications", body.encoded())
          // What was received decides: it is a JWS, whatever is kept of it.
          #expect(first.status == 200 && first.body["status"] == "quarantined", "\(variant) \(isWrapped) \(first)")
          #expect(try await service.post("/notifications", body.encoded()).body["status"] == "quarantinedBefore")
          let kept = try await kept(service)
          #expect(kept.count == 1)
          for body in kept {
            #expect(!body.contains(Self.secret), "\(variant)")
            let short = try #require(JSONReader.read(Array(body.utf8)).object)
            #expect(short["signedPayload"] == .string(HiddenSecrets.marker), "\(variant) \(isWrapped)")
          }
        }
      }
      #expect(try await service.rowCount("outbox") == 0)
    }
  }

  @Test func `beside it is taken as Apple signed it`() async throws {
    try await RunningService.with { service in
      try await service.register(secret: Self.secret)
      let jws = try #require(JSONReader.read(service.notification()).object?["signedPayload"])
      let text = "password=\(Self.secret)"
      let body: JSONObject = ["signedPayload": jws, "password": .string(Self.secret), "x": .string(text)]
      let answer = try await service.post("/notifications", body.encoded())
      #expect(answer.body["status"] == "stored", "\(answer)")
      let plain: JSONObject = ["signedPayload": jws]
      #expect(try await service.post("/notifications", plain.encoded()).body["status"] == "duplicate")
    }
  }

  @Test func `that nothing is wrong with is kept as it was received`() {
    let body = Array(#"{"signedPayload":"\#(jws(#"{"alg":"ES256"}"#, #"{"a":1}"#, "AA"))"}"#.utf8)
    #expect(SignedPayload.withoutSecrets(in: body, SecretFilter([Array(Self.secret.utf8)])) == nil)
  }
}
