public import Signing

/// Why a receipt is not used: a code to act on and a detail to read.
///
/// Equality looks at the code alone. The raw values are stable: the command line prints them and rejects carry them.
public struct ReceiptError: Error, Equatable, Sendable, CustomStringConvertible {
  /// One for each cause.
  public enum Code: String, Sendable, CaseIterable {
    /// Nothing, or nothing but white space.
    case empty
    /// More bytes than the limit.
    case tooLarge
    /// Neither bytes of a receipt nor base64, also not with everything mended that clients are known to damage.
    case notBase64
    /// Ends before the receipt does.
    case truncated
    /// Base64 or bytes of something else.
    case notAReceipt
    /// Nested deeper than the limit.
    case tooDeep
    /// More elements than the limit.
    case tooMany
    /// A JWS: signed data of StoreKit 2 or the App Store Server API; the detail says which kind.
    case jwsGiven
    /// Of Xcode's StoreKit testing: signed by nobody we know, its ids are no ids.
    case xcodeReceipt
    /// Nothing in it by which Apple could be asked: no purchase, or none with an id.
    case noPurchases
    /// No signature at all.
    case notSigned
    /// A signature of a kind that Apple's receipts do not have.
    case unsupportedSignature
    /// A certificate that cannot be read.
    case malformedCertificate
    /// The signer's certificate is missing, or is one that nobody vouches for.
    case unknownSigner
    /// The signer's certificates do not lead to a trusted root.
    case unknownRoot
    /// The signer lacks Apple's marker of receipt-signing certificates: every developer's certificate has that root.
    case missingMarker
    /// The content was not signed by the signer's key.
    case badSignature
    /// No date at which the signature could count.
    case missingDate
    /// A certificate was not valid at the receipt's date.
    case notValidAtDate
    /// Of another app.
    case wrongBundle
  }

  public let code: Code
  /// What was seen, for people; never contents.
  public let detail: String
  /// The kind of a JWS that was given instead; nil for another refusal, or when it is of no known kind.
  public let jwsKind: PayloadKind?

  package init(_ code: Code, _ detail: String, jwsKind: PayloadKind? = nil) {
    self.code = code
    self.detail = detail
    self.jwsKind = jwsKind
  }

  init(reading what: String, _ error: DERError) {
    switch error {
    case .truncated: self.init(.truncated, "\(what) ends before it should")
    case .malformed: self.init(.notAReceipt, "\(what) is not built as a receipt is")
    case .tooDeep: self.init(.tooDeep, "\(what) is nested too deeply")
    case .tooMany: self.init(.tooMany, "\(what) has too many elements")
    }
  }

  init(_ refusal: SignatureError) {
    let code: Code =
      switch refusal.code {
      case .notSigned: .notSigned
      case .unsupportedSignature: .unsupportedSignature
      case .malformedCertificate: .malformedCertificate
      case .unknownSigner: .unknownSigner
      case .unknownRoot: .unknownRoot
      case .missingMarker: .missingMarker
      case .badSignature: .badSignature
      case .notValidAtDate: .notValidAtDate
      }
    self.init(code, refusal.detail)
  }

  public var description: String { "\(code.rawValue): \(detail)" }

  public static func == (a: Self, b: Self) -> Bool { a.code == b.code }
}
