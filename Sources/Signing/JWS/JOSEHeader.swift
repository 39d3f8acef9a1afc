import JSON

/// The protected header of a JWS that passed every check of the header itself.
struct JOSEHeader: Sendable {
  let leaf: Certificate
  let intermediate: Certificate

  /// The members of a header, before its certificates are parsed.
  struct Claims {
    let algorithm: JSONValue?
    let certificates: JSONValue?

    /// Throws unless it is one JSON object without critical extensions.
    init(_ bytes: [UInt8]) throws(VerificationError) {
      let header = try SignedJSON.object(bytes, called: "header")
      if let critical = header["crit"] {
        let names = (critical.array ?? []).prefix(8).compactMap(\.string).map(quoted).joined(separator: ", ")
        throw VerificationError(.unsupportedCriticalHeader, "crit demands \(names.isEmpty ? "nothing legible" : names)")
      }
      if let encoding = header["b64"], encoding != .bool(true) {
        throw VerificationError(.unsupportedCriticalHeader, "b64 asks for a payload that is not base64url")
      }
      algorithm = header["alg"]
      certificates = header["x5c"]
    }

    /// Returns the three entries of `x5c`, after a check of the algorithm.
    func chain() throws(VerificationError) -> [JSONValue] {
      guard let certificates = certificates?.array else {
        throw VerificationError(.missingCertificates, "the header has no array x5c")
      }
      guard certificates.count == 3 else {
        throw VerificationError(.wrongCertificateCount, "x5c has \(certificates.count) certificates instead of 3")
      }
      guard algorithm == "ES256" else {
        let seen = algorithm?.string.map(quoted) ?? "none"
        throw VerificationError(.unsupportedAlgorithm, "alg is \(seen), only ES256 is accepted")
      }
      return certificates
    }
  }

  /// Ignores the third entry: trust comes only from the configured roots.
  init(chain: [JSONValue]) throws(VerificationError) {
    leaf = try Self.certificate(chain[0], at: 0)
    intermediate = try Self.certificate(chain[1], at: 1)
  }

  private static func certificate(_ value: JSONValue, at index: Int) throws(VerificationError) -> Certificate {
    guard let text = value.string, let der = Base64.standard.decode(Array(text.utf8)) else {
      throw VerificationError(.malformedCertificate, "x5c[\(index)] is not base64")
    }
    do throws(CertificateError) { return try Certificate(der: der) } catch {
      throw VerificationError(.malformedCertificate, "x5c[\(index)]: \(error.detail)")
    }
  }
}

/// JSON in signed data: one object, read strictly.
enum SignedJSON {
  static func object(_ bytes: [UInt8], called name: String) throws(VerificationError) -> JSONObject {
    let value: JSONValue
    do throws(JSONError) { value = try JSONReader.read(bytes) } catch {
      throw VerificationError(code(for: error.code), "the \(name)'s JSON: \(error)")
    }
    guard case .object(let object) = value else {
      throw VerificationError(.invalidJSON, "the \(name) is not a JSON object")
    }
    return object
  }

  private static func code(for code: JSONError.Code) -> VerificationError.Code {
    switch code {
    case .tooLarge, .tooManyValues: .tooLarge
    case .tooDeep: .tooDeep
    case .duplicateKey: .duplicateKey
    case .truncated, .unexpectedByte, .invalidNumber, .invalidEscape, .controlCharacter, .notUTF8, .trailingBytes:
      .invalidJSON
    }
  }
}
