import JSON
import Signing

/// What was handed in as a receipt, brought back to the bytes that Apple made.
struct ReceiptText {
  enum Form {
    /// PKCS#7, of iOS 7 and later.
    case message
    /// A property list, of iOS 6 and before.
    case propertyList
  }

  let form: Form
  let bytes: [UInt8]
  let repairs: Set<ReceiptRepair>

  /// Base64 around base64 that is opened.
  private static let layers = 3

  init(_ given: [UInt8], limit: Int) throws(ReceiptError) {
    guard given.count <= limit else {
      throw ReceiptError(.tooLarge, "\(given.count) bytes, at most \(limit) are accepted")
    }
    var repairs: Set<ReceiptRepair> = []
    var bytes = given
    for layer in 0...Self.layers {
      if let form = Self.form(of: bytes) {
        (self.form, self.bytes, self.repairs) = (form, bytes, repairs)
        return
      }
      let text = Self.trimmed(bytes)
      guard !text.isEmpty else { throw Self.nothing(layer) }
      if text.first == UInt8(ascii: "{") {
        (form, self.bytes, self.repairs) = (.propertyList, Array(text), repairs)
        return
      }
      if let refusal = Self.jws(text) { throw refusal }
      if layer > 0 { repairs.insert(.doubleBase64) }
      if let decoded = Base64.standard.decode(text.count == bytes.count ? bytes : Array(text)) {
        bytes = decoded
      } else if let mended = LenientBase64(text) {
        bytes = mended.bytes
        repairs.formUnion(mended.repairs)
      } else {
        throw layer == 0
          ? ReceiptError(.notBase64, "neither a receipt's bytes nor base64")
          : ReceiptError(.notAReceipt, "base64 of something else")
      }
    }
    throw ReceiptError(.notAReceipt, "base64 within base64, \(Self.layers) times")
  }

  private static func nothing(_ layer: Int) -> ReceiptError {
    layer == 0 ? ReceiptError(.empty, "there is nothing") : ReceiptError(.notAReceipt, "base64 of nothing")
  }

  /// A SEQUENCE longer than 127 bytes or of indefinite length; no text begins so.
  private static func form(of bytes: [UInt8]) -> Form? {
    bytes.count > 1 && bytes[0] == DERTag.sequence.rawValue && bytes[1] >= 0x80 ? .message : nil
  }

  static func trimmed(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
    func isSpace(_ byte: UInt8) -> Bool { byte <= 0x20 }
    var start = 0
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { start = 3 }
    while start < bytes.count, isSpace(bytes[start]) { start += 1 }
    var end = bytes.count
    while end > start, isSpace(bytes[end - 1]) { end -= 1 }
    return bytes[start..<end]
  }

  /// The refusal of a JWS: three segments of base64url, of which the first is a JSON object.
  private static func jws(_ text: ArraySlice<UInt8>) -> ReceiptError? {
    let quotes: Set<UInt8> = [UInt8(ascii: "\""), UInt8(ascii: "'")]
    let bare = text.first.map(quotes.contains) == true ? text.drop { quotes.contains($0) } : text
    guard bare.starts(with: "eyJ".utf8) else { return nil }
    let segments = bare.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    // A property list whose first key follows at once begins so, too.
    if segments.count == 1, Base64.standard.decode(Array(bare)).map({ (try? PropertyList($0)) != nil }) == true {
      return nil
    }
    guard segments.count == 3, let payload = Base64.url.decode(Array(segments[1])) else {
      return ReceiptError(.jwsGiven, "the beginning of a JWS instead of a receipt")
    }
    guard let object = try? JSONReader.read(payload).object, let kind = PayloadKind(of: object) else {
      return ReceiptError(.jwsGiven, "a JWS of an unknown kind instead of a receipt")
    }
    return ReceiptError(.jwsGiven, "a JWS instead of a receipt: \(kind.rawValue)", jwsKind: kind)
  }
}

extension ReceiptReader {
  /// The receipt in base64 as Apple writes it, from one that was damaged on its way; nil for what is no receipt.
  package static func base64(of given: [UInt8]) -> String? {
    guard let text = try? ReceiptText(given, limit: given.count) else { return nil }
    return String(decoding: Base64.standard.encode(text.bytes), as: UTF8.self)
  }
}
