@Suite struct `A token for the App Store Server API` {
  private static let key: SigningKey = {
    do { return try SigningKey.generate() } catch { preconditionFailure("no key: \(error)") }
  }()
  private let now = Timestamp(1_767_225_600_000)
  private let key = DeveloperKey(issuerID: "issuer", keyID: "KEY", signingKey: key)

  private func refusal(
    _ header: JSONObject = [:], _ claims: [String: JSONValue?] = [:], by other: SigningKey? = nil
  ) throws -> DeveloperKey.Refusal? {
    var (head, body): (JSONObject, JSONObject) = (
      ["alg": "ES256", "kid": "KEY", "typ": "JWT"],
      [
        "iss": "issuer", "iat": .integer(now.wholeSeconds), "exp": .integer(now.wholeSeconds + 300),
        "aud": "appstoreconnect-v1", "bid": "com.example.app",
      ]
    )
    for member in header { head[member.key] = member.value }
    for (name, value) in claims { body[name] = value }
    let token = try JWS.sign(
      headerBytes: head.encoded(), payloadBytes: body.encoded(), with: other ?? key.signingKey)
    return refusal(of: "Bearer \(String(decoding: token, as: UTF8.self))")
  }

  private func refusal(of field: String?) -> DeveloperKey.Refusal? {
    do throws(DeveloperKey.Refusal) {
      #expect(try key.bundleID(authorized: field, at: now) == "com.example.app")
      return nil
    } catch {
      return error
    }
  }

  @Test func `is taken when it is Apple's way`() throws {
    #expect(try refusal() == nil)
    #expect(refusal(of: "Bearer \(try key.token(for: "com.example.app", at: now))") == nil)
    #expect(try refusal([:], ["exp": .integer(now.wholeSeconds + 3_600)]) == nil)
    #expect(try refusal([:], ["iat": nil]) == nil, "as Apple's library for Python makes them")
  }

  @Test func `is refused for each of its mistakes`() throws {
    let seconds = now.wholeSeconds
    #expect(refusal(of: nil) == .missing)
    #expect(refusal(of: "Basic abc") == .missing)
    #expect(refusal(of: "Bearer a.b") == .malformed)
    #expect(try refusal(["alg": "HS256"]) == .algorithm)
    #expect(try refusal(["kid": "OTHER"]) == .key)
    #expect(try refusal([:], by: .generate()) == .signature)
    #expect(try refusal([:], ["iss": "another"]) == .issuer)
    #expect(try refusal([:], ["aud": "appstoreconnect-v2"]) == .audience)
    #expect(try refusal([:], ["bid": nil]) == .bundle)
    #expect(try refusal([:], ["exp": nil]) == .malformed)
    #expect(try refusal([:], ["iat": "today"]) == .malformed)
    #expect(try refusal([:], ["iat": nil, "exp": .integer(seconds + 3_601)]) == .tooLong)
    #expect(try refusal([:], ["iat": .integer(seconds + 600), "exp": .integer(seconds + 900)]) == .notYetValid)
    #expect(try refusal([:], ["iat": .integer(seconds - 600), "exp": .integer(seconds)]) == .expired)
    #expect(try refusal([:], ["exp": .integer(seconds + 3_601)]) == .tooLong)
  }
}
