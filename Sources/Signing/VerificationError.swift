/// Why signed data is refused: a code to act on and a detail to read.
///
/// Equality looks at the code alone. The raw values are stable: the command line prints them and the ledger keeps them.
public struct VerificationError: Error, Equatable, Sendable, CustomStringConvertible {
  /// One for each cause, in the order of the checks.
  public enum Code: String, Sendable, CaseIterable {
    /// More bytes than the limit.
    case tooLarge
    /// Not three segments separated by dots.
    case notAJWS
    /// A segment that is not base64url as RFC 7515 writes it, without padding, white space or bits left over.
    case invalidBase64
    /// Header or payload are not one JSON object.
    case invalidJSON
    /// The same key twice in one object: readers would disagree about what was signed.
    case duplicateKey
    /// JSON nested deeper than the limit.
    case tooDeep
    /// The header demands an extension (`crit`, `b64`) that a reader must understand or refuse.
    case unsupportedCriticalHeader
    /// No `x5c` in the header, or it is no array.
    case missingCertificates
    /// `x5c` has not exactly three certificates.
    case wrongCertificateCount
    /// `alg` is not ES256; what the header names is never used.
    case unsupportedAlgorithm
    /// Xcode or LocalTesting: nobody vouches for such data, and the caller did not allow it.
    case unsignedTestData
    /// A certificate that is not base64 of one DER certificate.
    case malformedCertificate
    /// The intermediate stands on the leaf's place and the leaf on the intermediate's.
    case swappedCertificates
    /// The leaf lacks Apple's marker of receipt-signing certificates.
    case missingLeafMarker
    /// The intermediate lacks Apple's marker of its developer relations authority.
    case missingIntermediateMarker
    /// No root trusted for this environment issued the intermediate.
    case unknownRoot
    /// The certificates are no chain of leaf, intermediate and root.
    case brokenChain
    /// The leaf's key is not on the curve P-256.
    case leafKeyNotP256
    /// A certificate of the chain was not valid when the data was signed.
    case notValidAtSigning
    /// The signature is not r and s of 32 bytes each (DER, for example).
    case malformedSignature
    /// The signature was not made for this header and payload by the leaf's key.
    case badSignature
    /// Signed after a certificate of the chain was revoked.
    case revoked
    /// Another kind of payload than the one due: a transaction where a notification is expected, for example.
    case unexpectedKind
    /// A claim that must be there is not.
    case missingClaim
    /// A claim of the wrong type.
    case malformedClaim
    /// Another app's bundle id.
    case wrongBundle
    /// Another app's Apple id.
    case wrongAppAppleId
    /// Another environment than expected, or one that Apple does not document.
    case wrongEnvironment
    /// A nested payload says something else than its notification or its neighbour.
    case contradictsEnvelope
  }

  public let code: Code
  /// What was seen and what was expected, for people; never contents.
  public let detail: String
  /// Whether Apple signed what is refused as a notification.
  ///
  /// Other signed payloads prove nothing about who posts them: whoever bought something has a signed transaction.
  package private(set) var isProven = false

  package init(_ code: Code, _ detail: String) {
    self.code = code
    self.detail = detail
  }

  public var description: String { "\(code.rawValue): \(detail)" }

  public static func == (a: Self, b: Self) -> Bool { a.code == b.code }

  /// The same refusal, of a notification whose signature was verified.
  package func proven() -> Self {
    var error = self
    error.isProven = true
    return error
  }

  /// The same refusal, said of a part of the whole.
  func within(_ place: String) -> Self { Self(code, "\(place): \(detail)") }
}

/// A short text of a stranger, fit for a log line: quoted, escaped, cut after 80 bytes.
func quoted(_ text: String) -> String {
  var quoted = "\""
  for scalar in text.unicodeScalars {
    guard quoted.utf8.count < 80 else { return quoted + "…\"" }
    quoted += scalar == "\"" ? "\\\"" : scalar.escaped(asASCII: true)
  }
  return quoted + "\""
}
