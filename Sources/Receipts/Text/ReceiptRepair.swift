/// What a client or a table did to the text of a receipt, and what mended it.
public enum ReceiptRepair: String, Hashable, Sendable, CaseIterable {
  /// `+` was taken for a form's space.
  case spacesForPlus
  /// White space and line breaks within the text.
  case lineBreaks
  case percentEscapes
  /// `-` and `_`, as in JWS.
  case urlSafeAlphabet
  case missingPadding
  case quotes
  /// `\/` and the like, of JSON.
  case escapes
  /// Base64 of base64.
  case doubleBase64
}
