package import JSON
package import Receipts
package import Signing

/// The reason why a message is unusable.
///
/// The class decides its treatment; code and detail are for people.
public struct MessageError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The stage that the message reached.
  public enum Class: String, Sendable {
    /// Neither JSON nor a JWS: a retry is pointless.
    case unreadable
    case unproven
    /// Signed by Apple, and still unusable; in quarantine no V1 body counts as such.
    case authentic
    case legacy
  }

  public let kind: Class
  /// The stable code, shown in the ledger, the metrics and the command line.
  public let code: String
  public var detail: String
  /// The claimed bundle ID, if readable; proven only for an authentic message.
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

  /// The codes of the adapter, in addition to those of verification.
  package enum Code: String, Sendable, CaseIterable {
    /// The body is not acceptable JSON.
    case notJSON
    /// JSON, but not a message of Apple.
    case notAMessage
    /// A V1 notification without the result of checking its sender.
    case notificationV1NotYet
    /// A verifyReceipt response without purchases; the detail explains its status.
    case verifyReceiptStatus
    /// A number of rows above any customer's.
    case tooManyRows
    /// Neither the payload nor its envelope nor the request names an environment, or they contradict each other.
    case environmentUnknown
    /// An ID or name longer than any of Apple's, which would not fit the ledger's index.
    case valueTooLong
    /// The body of evidence names another user than the request.
    case userIdContradicts
    /// Only a renewal, of a subscription without a known purchase.
    case unknownSubscription
    /// No ID that identifies the purchase: no originalTransactionId, or Xcode's "0".
    case missingIdentity
    /// No date that decides which of two statements is the later one.
    case missingSignedDate
    case unknownApp
    /// Production, and the app's Apple ID is not registered, so that it cannot be compared.
    case appAppleIdNotRegistered
    /// The ID in the app's registration and in the message differ.
    case wrongAppAppleId
    /// Evidence of another app than the bearer token is for, or a notification at another app's URL.
    case wrongBundle
    /// A V1 body that neither its `bid` nor its password nor the URL assigns to one app.
    case appNotNamed
    /// A V1 body of an app without a shared secret to compare.
    case noSharedSecret
    /// A V1 body without a password.
    case missingSharedSecret
    /// A V1 body with a password that the app does not have.
    case wrongSharedSecret
    /// A V1 body that repeats a shared secret in an unexpected member, where it would be stored in clear text.
    case secretRepeated
  }

  /// Whether a response's row is rejected separately: Apple signed it, but it is not of the row's kind.
  var isOfOneRow: Bool {
    let codes: [VerificationError.Code] = [.unexpectedKind, .missingClaim, .malformedClaim]
    let own: [Code] = [.missingIdentity, .missingSignedDate]
    return codes.map(\.rawValue).contains(code) || own.map(\.rawValue).contains(code)
  }

  package init(_ error: JSONError) { self.init(.unreadable, .notJSON, "the body is not acceptable JSON: \(error)") }

  /// - Parameter isMessage: whether the body had the form of a message, so that it is stored regardless of its content.
  package init(_ error: VerificationError, isMessage: Bool = false, claimedApp: String? = nil) {
    let kind = error.isProven ? .authentic : Self.kind(of: error.code)
    self.init(
      kind == .unreadable && isMessage ? .unproven : kind, error.code.rawValue, error.detail, claimedApp: claimedApp)
  }

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

  private static func kind(of code: VerificationError.Code) -> Class {
    switch code {
    case .notAJWS, .invalidBase64: .unreadable
    // A code does not show whether the signature was verified before: the error itself does.
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
