/// The other signature of the same data: (r, n − s) instead of (r, s), which anybody can make without the key.
///
/// Written without what the program does about it.
package enum FlippedSignatures {
  private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
  /// The order of P-256.
  private static let order: [Int] = {
    let digits = Array("FFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551")
    return stride(from: 0, to: 64, by: 2).map { Int(String(digits[$0...($0 + 1)]), radix: 16) ?? 0 }
  }()

  /// Returns a body in which one signature, or each, is the other one.
  ///
  /// - Parameter only: which, counted from 0; nil for all.
  package static func flipped(_ body: [UInt8], only: Int? = nil) -> [UInt8] {
    let text = String(decoding: body, as: UTF8.self)
    var (result, word, count) = ("", "", 0)
    func take() {
      let parts = word.split(separator: ".", omittingEmptySubsequences: false)
      if parts.count == 3, parts[2].count == 86 {
        if only == nil || only == count { word = "\(parts[0]).\(parts[1]).\(flipped(String(parts[2])))" }
        count += 1
      }
      result += word
      word = ""
    }
    for letter in text {
      if letters.contains(letter) || letter == "." {
        word.append(letter)
      } else {
        take()
        result.append(letter)
      }
    }
    take()
    return Array(result.utf8)
  }

  /// Whether the first signature of a body is in the upper half.
  package static func isHigh(_ body: [UInt8]) -> Bool {
    for word in String(decoding: body, as: UTF8.self).split(whereSeparator: { !letters.contains($0) && $0 != "." }) {
      let parts = word.split(separator: ".", omittingEmptySubsequences: false)
      if parts.count == 3, parts[2].count == 86 { return bytes(String(parts[2]))[32] >= 0x80 }
    }
    return false
  }

  private static func flipped(_ text: String) -> String {
    var bytes = bytes(text)
    var borrow = 0
    for place in (0..<32).reversed() {
      let difference = order[place] - bytes[32 + place] - borrow
      borrow = difference < 0 ? 1 : 0
      bytes[32 + place] = (difference + 256) % 256
    }
    let bits = bytes.flatMap { byte in (0..<8).map { byte >> (7 - $0) & 1 } } + [0, 0, 0, 0]
    return String(
      stride(from: 0, to: bits.count, by: 6).map { start in letters[bits[start..<(start + 6)].reduce(0) { $0 * 2 + $1 }]
      })
  }

  private static func bytes(_ text: String) -> [Int] {
    let bits = text.flatMap { letter in
      let value = letters.firstIndex(of: letter) ?? 0
      return (0..<6).map { value >> (5 - $0) & 1 }
    }
    return (0..<64).map { byte in bits[(byte * 8)..<(byte * 8 + 8)].reduce(0) { $0 * 2 + $1 } }
  }
}
