import Receipts
import Signing

/// The reason why an input cannot be converted, and the fix.
public struct ConversionError: Error, Equatable, Sendable {
  /// The codes of the conversion, in addition to those of verification, receipts and the adapter.
  package enum Code: String, Sendable, CaseIterable {
    /// Empty or only white space.
    case emptyInput
    /// A decoded payload, or a receipt without proof.
    case unsigned
    case unknownApp
    /// The input is of another app than the named one.
    case wrongBundle
    /// The input is of another environment than the named one.
    case wrongEnvironment
    case environmentUnknown
    /// Parts of different apps or environments in one input.
    case severalApps
  }

  /// The code, which is stable.
  public let code: String
  public let detail: String
  /// The fix.
  public let next: String

  init(_ code: Code, _ detail: String) {
    self.code = code.rawValue
    self.detail = detail
    next = NextStep.after(code)
  }

  init(_ refusal: MessageError) {
    code = refusal.code
    detail = refusal.detail
    next =
      MessageError.Code(rawValue: refusal.code).map(NextStep.after)
      ?? VerificationError.Code(rawValue: refusal.code).map(NextStep.after) ?? NextStep.unknown
  }

  init(_ refusal: ReceiptError) {
    code = refusal.code.rawValue
    detail = refusal.detail
    next = NextStep.after(refusal.code)
  }

  func isAbout(_ code: Code) -> Bool { self.code == code.rawValue }

  public static func == (a: Self, b: Self) -> Bool { a.code == b.code }
}
