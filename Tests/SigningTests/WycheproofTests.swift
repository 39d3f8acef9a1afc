/// Project Wycheproof's vectors of ECDSA with P-256 and SHA-256: edge cases on which implementations have failed.
@Suite(.enabled(if: Samples.directory != nil)) struct `Signatures of Wycheproof` {
  private struct Vector {
    let id: Int64
    let message: [UInt8]
    let signature: [UInt8]
    let isValid: Bool
  }

  private static func groups() throws -> [(point: [UInt8], vectors: [Vector])] {
    let text = try Samples.required("wycheproof/ecdsa_secp256r1_sha256_p1363_test.json")
    let root = try #require(JSONReader.read(text).object)
    return try #require(root["testGroups"]?.array).map { group in
      let key = try #require(group.object?["publicKey"]?.object?["uncompressed"]?.string)
      let vectors = try #require(group.object?["tests"]?.array).map { test in
        let test = try #require(test.object)
        return Vector(
          id: try #require(test["tcId"]?.integer), message: try bytes(test["msg"]), signature: try bytes(test["sig"]),
          isValid: try #require(test["result"]?.string) == "valid")
      }
      return (try bytes(.string(key)), vectors)
    }
  }

  private static func bytes(_ value: JSONValue?) throws -> [UInt8] {
    let digits = Array(try #require(value?.string).utf8)
    return try stride(from: 0, to: digits.count, by: 2).map { place in
      try #require(UInt8(String(decoding: digits[place..<min(place + 2, digits.count)], as: UTF8.self), radix: 16))
    }
  }

  /// SubjectPublicKeyInfo of a point of P-256 up to the point (RFC 5480).
  private static let head: [UInt8] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE,
    0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
  ]

  @Test func `are taken and refused as they say, by EVP and by the table of the key`() throws {
    var (valid, refused) = (0, 0)
    for group in try Self.groups() {
      let key = try PublicKey(der: Self.head + group.point)
      #expect(key.isP256 && key.point == group.point)
      let table = try #require(KeyTable(point: group.point))
      for vector in group.vectors {
        let digest = Digest.sha256(vector.message)
        // One that has not 64 bytes is none of JOSE's, and is refused before either looks at it.
        let signature = RawSignature(bytes: vector.signature)
        let verdicts = signature.map { [key.verifies($0, of: digest), table.accepts($0, of: digest)] } ?? [false]
        #expect(verdicts.allSatisfy { $0 == vector.isValid }, "vector \(vector.id): \(verdicts)")
        if vector.isValid { valid += 1 } else { refused += 1 }
      }
    }
    #expect(valid + refused == 262 && valid > 100 && refused > 50, "\(valid) valid, \(refused) not")
  }
}
