/// The reason why signed data is rejected: a code for programs and a detail for people.
///
/// Equality compares only the code. The raw values are stable: the command line prints them and the ledger stores them.
public struct VerificationError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The causes, in the order of the checks.
  public enum Code: String, Sendable, CaseIterable {
    case tooLarge
    case notAJWS
    /// A segment that is not base64url as in RFC 7515, without padding, white space or bits left over.
    case invalidBase64
    /// Header or payload are not one JSON object.
    case invalidJSON
    /// The same key twice in one object: readers would disagree about the signed value.
    case duplicateKey
    case tooDeep
    /// The header demands an extension (`crit`, `b64`) that a reader must understand or reject.
    case unsupportedCriticalHeader
    /// The header has no `x5c`, or one that is not an array.
    case missingCertificates
    /// `x5c` does not have exactly three certificates.
    case wrongCertificateCount
    /// `alg` is not ES256; the header's choice is never used.
    case unsupportedAlgorithm
    /// Xcode or LocalTesting: such data has no trusted signature, and the caller did not allow it.
    case unsignedTestData
    /// A certificate that is not base64 of one DER certificate.
    case malformedCertificate
    case swappedCertificates
    /// The leaf lacks Apple's marker of receipt-signing certificates.
    case missingLeafMarker
    /// The intermediate lacks Apple's marker of its developer relations authority.
    case missingIntermediateMarker
    /// No root trusted for this environment issued the intermediate.
    case unknownRoot
    /// The certificates do not form a chain of leaf, intermediate and root.
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
    /// Another kind of payload than expected: a transaction instead of a notification, for example.
    case unexpectedKind
    case missingClaim
    case malformedClaim
    case wrongBundle
    case wrongAppAppleId
    /// Another environment than expected, or one that Apple does not document.
    case wrongEnvironment
    /// A nested payload contradicts its notification or the other nested payload.
    case contradictsEnvelope
  }

  public let code: Code
  /// The actual and expected values for people, without contents.
  public let detail: String
  /// Whether Apple signed the rejected data as a notification.
  ///
  /// Other signed payloads prove nothing about their sender, because every buyer has a signed transaction.
  package private(set) var isProven = false

  package init(_ code: Code, _ detail: String) {
    self.code = code
    self.detail = detail
  }

  public var description: String { "\(code.rawValue): \(detail)" }

  public static func == (a: Self, b: Self) -> Bool { a.code == b.code }

  /// Returns the error for a notification whose signature was verified.
  package func proven() -> Self {
    var error = self
    error.isProven = true
    return error
  }

  func within(_ place: String) -> Self { Self(code, "\(place): \(detail)") }
}

/// Returns a stranger's short text for a log line: quoted, escaped, cut after 80 bytes.
func quoted(_ text: String) -> String {
  var quoted = "\""
  for scalar in text.unicodeScalars {
    guard quoted.utf8.count < 80 else { return quoted + "…\"" }
    quoted += scalar == "\"" ? "\\\"" : scalar.escaped(asASCII: true)
  }
  return quoted + "\""
}
