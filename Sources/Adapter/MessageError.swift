package import JSON
package import Receipts
package import Signing

/// Why a message cannot be used: what to do with it follows from the class, what to tell people from code and detail.
public struct MessageError: Error, Equatable, Sendable, CustomStringConvertible {
  /// How far the message got.
  public enum Class: String, Sendable {
    /// Not even JSON or a JWS: nothing that could be tried again.
    case unreadable
    /// Readable, but nothing vouches for it.
    case unproven
    /// Signed by Apple, and still not to be used as it is; in quarantine no V1 body counts as such.
    case authentic
    /// A body of the old generation.
    case legacy
  }

  public let kind: Class
  /// Stable: the ledger, the metrics and the command line show it.
  public let code: String
  public var detail: String
  /// The bundle id that the message claims, when one can be read; proven only for an authentic one.
  public var claimedApp: String?

  package init(_ kind: Class, _ code: Code, _ detail: String, claimedApp: String? = nil) {
    self.init(kind, code.rawValue, detail, claimedApp: claimedApp)
  }

  private init(_ kind: Class, _ code: String, _ detail: String, claimedApp: String?) {
    self.kind = kind
    self.code = code
    self.detail = detail
    self.claimedApp = claimedApp
  }

  /// What the adapter itself refuses, beside what verification does.
  package enum Code: String, Sendable, CaseIterable {
    /// The body is not JSON that can be accepted.
    case notJSON
    /// JSON, but nothing Apple sends.
    case notAMessage
    /// A V1 notification of which nobody found out who sent it.
    case notificationV1NotYet
    /// An answer of verifyReceipt that holds no purchases; the detail says what its status means.
    case verifyReceiptStatus
    /// More rows than any customer has.
    case tooManyRows
    /// Neither the payload nor its envelope nor the request names an environment, or they contradict each other.
    case environmentUnknown
    /// An id or name longer than any of Apple's: it would not fit where it is to be looked up.
    case valueTooLong
    /// The body of evidence names another user than the request.
    case userIdContradicts
    /// A renewal alone, of a subscription no purchase is known of.
    case unknownSubscription
    /// No id by which the purchase could be known: no originalTransactionId, or Xcode's "0".
    case missingIdentity
    /// No date from which it could be told which of two statements is the later one.
    case missingSignedDate
    /// The app is not registered.
    case unknownApp
    /// Production, and the app's Apple id is not registered, so that it cannot be compared.
    case appAppleIdNotRegistered
    /// The id in the app's registration and in the message differ.
    case wrongAppAppleId
    /// Evidence of another app than the bearer token is for, or a notification at another app's URL.
    case wrongBundle
    /// A V1 body that neither its `bid` nor its password nor the URL gives to one app.
    case appNotNamed
    /// A V1 body of an app without a shared secret that could be compared.
    case noSharedSecret
    /// A V1 body without a password.
    case missingSharedSecret
    /// A V1 body with a password that is none of the app's.
    case wrongSharedSecret
    /// A V1 body in which a shared secret stands a second time, where Apple puts none: it would be kept in clear.
    case secretRepeated
  }

  /// Whether a row of an answer is refused by it alone: Apple signed it, and it is not what stands in such a row.
  var isOfOneRow: Bool {
    let codes: [VerificationError.Code] = [.unexpectedKind, .missingClaim, .malformedClaim]
    let own: [Code] = [.missingIdentity, .missingSignedDate]
    return codes.map(\.rawValue).contains(code) || own.map(\.rawValue).contains(code)
  }

  package init(_ error: JSONError) { self.init(.unreadable, .notJSON, "the body is not acceptable JSON: \(error)") }

  /// - Parameter isMessage: whether the body had the form of a message, so that it is kept whatever is wrong inside it.
  package init(_ error: VerificationError, isMessage: Bool = false, claimedApp: String? = nil) {
    let kind = error.isProven ? .authentic : Self.kind(of: error.code)
    self.init(
      kind == .unreadable && isMessage ? .unproven : kind, error.code.rawValue, error.detail, claimedApp: claimedApp)
  }

  /// A receipt that is of no use; the code is the receipt's own.
  package init(_ error: ReceiptError, claimedApp: String? = nil) {
    let kind: Class =
      switch error.code {
      case .empty, .tooLarge, .notBase64, .truncated, .notAReceipt, .tooDeep, .tooMany, .jwsGiven: .unreadable
      case .xcodeReceipt, .notSigned, .unsupportedSignature, .malformedCertificate, .unknownSigner, .unknownRoot,
        .missingMarker, .badSignature, .missingDate, .notValidAtDate:
        .unproven
      case .noPurchases, .wrongBundle: .authentic
      }
    self.init(kind, error.code.rawValue, error.detail, claimedApp: claimedApp)
  }

  /// How far a message got whose signature was not verified.
  private static func kind(of code: VerificationError.Code) -> Class {
    switch code {
    case .notAJWS, .invalidBase64: .unreadable
    // A code says what was wrong, never whether the signature was verified before: the error itself does.
    case .wrongBundle, .wrongAppAppleId, .wrongEnvironment, .contradictsEnvelope, .unexpectedKind, .tooLarge,
      .invalidJSON, .duplicateKey, .tooDeep, .unsupportedCriticalHeader, .missingCertificates, .wrongCertificateCount,
      .unsupportedAlgorithm, .unsignedTestData, .malformedCertificate, .swappedCertificates,
      .missingLeafMarker, .missingIntermediateMarker, .unknownRoot, .brokenChain, .leafKeyNotP256, .notValidAtSigning,
      .malformedSignature, .badSignature, .revoked, .missingClaim, .malformedClaim:
      .unproven
    }
  }

  public var description: String { "\(code): \(detail)" }

  public static func == (a: Self, b: Self) -> Bool { a.code == b.code }
}
