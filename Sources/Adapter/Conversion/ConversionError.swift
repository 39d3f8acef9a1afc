import Receipts
import Signing

/// Why an input cannot be converted, and what to do about it.
public struct ConversionError: Error, Equatable, Sendable {
  /// What the conversion itself refuses, beside verification, receipts and the adapter.
  package enum Code: String, Sendable, CaseIterable {
    /// Nothing, or nothing but white space.
    case emptyInput
    /// A decoded payload, or a receipt without proof: nobody vouches for it.
    case unsigned
    /// The input names no app.
    case unknownApp
    /// Of another app than the one that was named.
    case wrongBundle
    /// Of another environment than the one that was named.
    case wrongEnvironment
    /// Nothing in it names an environment.
    case environmentUnknown
    /// Parts of different apps or environments in one input.
    case severalApps
  }

  /// Stable: others script on it.
  public let code: String
  public let detail: String
  /// What to do about it.
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
