import Receipts
import Signing

/// The fix of a rejected input, by the error's code.
enum NextStep {
  /// The text for codes without a specific fix.
  static let unknown = "Look at the detail; switchyard jws verify and receipt inspect show more of its content."

  private static let whole = "Hand it in as Apple gave it, whole and unchanged."
  private static let roots =
    "It is not Apple's. Of a simulator or a test: name its root with --root. Otherwise do not believe it."
  private static let forged = "Do not believe it: it is not as Apple signed it. Ask for the original."
  private static let smaller = "It is larger than anything of Apple's; hand in one message at a time."
  private static let named =
    "Say which with --environment, if you know it from Apple; leave that out where the input names another."
  private static let vouched =
    "It is not signed. Hand in data that Apple signed, or add --allow-unsigned to look at it unverified."
  private static let useless = "There is nothing in it to convert: no id by which a purchase could be known."

  static func after(_ code: ConversionError.Code) -> String {
    switch code {
    case .emptyInput: "Give a file with one message, answer or receipt, or pipe it in and give -."
    case .unsigned: vouched
    case .unknownApp: "Say which app it is of with --app BUNDLE_ID."
    case .wrongBundle: "Leave --app out, or name the app that is in it."
    case .wrongEnvironment: "Leave --environment out, or name the one that is in it."
    case .environmentUnknown: named
    case .severalApps: "Hand in the parts one at a time."
    }
  }

  static func after(_ code: MessageError.Code) -> String {
    switch code {
    case .notJSON: whole
    case .notAMessage:
      "Give a V2 or V1 notification, signed data, a verifyReceipt response, a response of the App Store Server API, or a receipt."
    case .notificationV1NotYet: after(ConversionError.Code.unknownApp)
    case .verifyReceiptStatus:
      "The answer has a status and no purchases; `switchyard mappings show v1-statuses` says what it means."
    case .tooManyRows: smaller
    case .environmentUnknown: named
    case .valueTooLong: forged
    case .userIdContradicts: "Hand it in with one user id: in the body, or with the request."
    case .unknownSubscription: "Hand in the transaction that goes with the renewal."
    case .missingIdentity: useless
    case .missingSignedDate: whole
    case .unknownApp: after(ConversionError.Code.unknownApp)
    case .appAppleIdNotRegistered, .wrongAppAppleId: "Compare the app's Apple id with App Store Connect."
    case .wrongBundle: after(ConversionError.Code.wrongBundle)
    case .appNotNamed: after(ConversionError.Code.unknownApp)
    case .noSharedSecret, .wrongSharedSecret: "Add the app's shared secret with switchyard app secret, then replay."
    case .missingSharedSecret: vouched
    case .secretRepeated: forged
    }
  }

  static func after(_ code: VerificationError.Code) -> String {
    switch code {
    case .tooLarge, .tooDeep: smaller
    case .notAJWS, .invalidBase64, .invalidJSON, .duplicateKey, .missingClaim, .malformedClaim: whole
    case .unsupportedCriticalHeader, .missingCertificates, .wrongCertificateCount, .unsupportedAlgorithm,
      .malformedCertificate, .swappedCertificates, .missingLeafMarker, .missingIntermediateMarker, .brokenChain,
      .leafKeyNotP256, .notValidAtSigning, .malformedSignature, .badSignature, .revoked:
      forged
    case .unsignedTestData: "Data of Xcode: add --allow-unsigned to look at it unverified."
    case .unknownRoot: roots
    case .unexpectedKind: "Hand in each part separately."
    case .wrongBundle: after(ConversionError.Code.wrongBundle)
    case .wrongAppAppleId: "Compare the app's Apple id with App Store Connect."
    case .wrongEnvironment: after(ConversionError.Code.wrongEnvironment)
    case .contradictsEnvelope: "Its parts belong to different purchases. Hand in the signed parts separately."
    }
  }

  static func after(_ code: ReceiptError.Code) -> String {
    switch code {
    case .empty: after(ConversionError.Code.emptyInput)
    case .tooLarge, .tooDeep, .tooMany: smaller
    case .notBase64, .truncated, .notAReceipt: whole
    case .jwsGiven: "Hand in only the JWS, without anything around it."
    case .xcodeReceipt: "From Xcode's StoreKit testing: add --allow-unsigned to look at it unverified."
    case .noPurchases: useless
    case .notSigned, .unsupportedSignature, .missingDate: vouched
    case .malformedCertificate, .unknownSigner, .unknownRoot, .missingMarker: roots
    case .badSignature, .notValidAtDate: forged
    case .wrongBundle: after(ConversionError.Code.wrongBundle)
    }
  }
}
