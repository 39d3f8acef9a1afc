import Runtime
import Signing
import Simulator
import Time

/// A table of receipts as one finds them: 5 % come twice, 2 % are damaged in twelve ways, half of which can be mended.
struct BulkReceipts: Sendable {
  private static let block = 1_000
  private static let damages = 12

  let count: Int
  let samples: ReceiptSamples
  /// Whether they are of several apps, environments and kinds, as the tables of a team have them.
  var isVaried = false

  /// What has to come of it.
  var duplicates: Int { count / 20 }
  var rejected: Int { (0..<count).count { isDamaged($0) && way($0) >= Self.damages / 2 } }
  var usable: Int { count - duplicates - rejected }

  /// Writes `app,user_id,receipt` with its rows; returns the bytes written.
  @concurrent func write(to path: String, note: @Sendable (String) -> Void) async throws -> Int {
    let file = try OutputFile(path)
    try file.write(Array("app,user_id,receipt\n".utf8))
    let blocks = (count + Self.block - 1) / Self.block
    return try await withThrowingTaskGroup(of: (Int, [UInt8]).self) { group in
      var (given, written, size) = (0, 0, 0)
      var waiting: [Int: [UInt8]] = [:]
      while written < blocks {
        while given < blocks, given - written < 2 * Processors.count {
          let number = given
          group.addTask { (number, try rows(number * Self.block..<min(count, (number + 1) * Self.block))) }
          given += 1
        }
        guard let (number, rows) = try await group.next() else { break }
        waiting[number] = rows
        while let next = waiting.removeValue(forKey: written) {
          try file.write(next)
          size += next.count
          written += 1
          if written.isMultiple(of: 100) { note("  \(written * Self.block) receipts signed") }
        }
      }
      return size
    }
  }

  private func isDuplicate(_ number: Int) -> Bool { number % 20 == 19 }
  private func isDamaged(_ number: Int) -> Bool { number % 50 == 7 }
  private func way(_ number: Int) -> Int { number / 50 % Self.damages }

  private func rows(_ numbers: Range<Int>) throws -> [UInt8] {
    var rows: [UInt8] = []
    rows.reserveCapacity(numbers.count * 6_000)
    for cell in try cells(numbers) {
      rows += Array("\(cell.app),\(cell.user),".utf8)
      rows += cell.isQuoted ? Array("\"".utf8) + cell.receipt + Array("\"".utf8) : cell.receipt
      rows.append(0x0A)
    }
    return rows
  }

  /// What stands in a row.
  struct Cell: Sendable {
    let app: String
    let user: String
    let receipt: [UInt8]
    /// Whether a CSV needs quotes around the receipt.
    var isQuoted: Bool { receipt.contains(0x0A) }
  }

  /// Of rows that begin at a multiple of 20, since duplicates are of the first of twenty.
  func cells(_ numbers: Range<Int>) throws -> [Cell] {
    var repeated: (app: String, text: [UInt8]) = ("", [])
    return try numbers.map { number in
      // The beginning of a group of twenty is never damaged.
      let (app, text) = isDuplicate(number) ? repeated : try receipt(number)
      if number % 20 == 0 { repeated = (app, text) }
      return Cell(
        app: app, user: "user-\(number)", receipt: isDamaged(number) ? Self.damaged(text, way(number)) : text)
    }
  }

  private func receipt(_ number: Int) throws -> (app: String, text: [UInt8]) {
    if isVaried { return try samples.varied(number) }
    return (ReceiptSamples.app.bundleID, try samples.receipt(number).text)
  }

  private static func damaged(_ text: [UInt8], _ way: Int) -> [UInt8] {
    func replacing(_ bytes: [Character: String]) -> [UInt8] {
      text.flatMap { byte in Array((bytes[Character(Unicode.Scalar(byte))] ?? String(Unicode.Scalar(byte))).utf8) }
    }
    switch way {
    case 0: return replacing(["+": " "])
    case 1: return replacing(["+": "%2B", "/": "%2F", "=": "%3D"])
    case 2: return replacing(["+": "-", "/": "_"])
    case 3: return replacing(["=": ""])
    case 4: return replacing([:]).chunked()
    case 5: return Base64.standard.encode(text)
    case 6: return Array(text.prefix(text.count / 8 * 4))
    case 7: return []
    case 8: return Array("NULL".utf8)
    case 9: return Array("aGVsbG8gd29ybGQ=".utf8)
    case 10: return Array("eyJhbGciOiJFUzI1NiJ9.eyJ0cmFuc2FjdGlvbklkIjoiMSJ9.AAAA".utf8)
    default:
      guard var bytes = Base64.standard.decode(text), let place = bytes.firstRange(of: Array("com.example".utf8)) else {
        return []
      }
      bytes[place.lowerBound] ^= 1
      return Base64.standard.encode(bytes)
    }
  }
}

extension [UInt8] {
  /// With a line break after each 76 bytes.
  fileprivate func chunked() -> [UInt8] {
    let lines = stride(from: 0, to: count, by: 76).map { Array(self[$0..<Swift.min(count, $0 + 76)]) }
    return Array(lines.joined(separator: [0x0A]))
  }
}
