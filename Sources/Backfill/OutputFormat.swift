import JSON
import Receipts
import Time

/// How usable receipts are written, one a line.
package enum OutputFormat: String, Sendable, CaseIterable {
  case jsonl, csv
  /// The ids alone, one a line.
  case ids

  /// What stands above the first line; nil for nothing.
  var heading: [UInt8]? {
    switch self {
    case .jsonl, .ids: nil
    case .csv:
      Array(
        """
        file,line,app,userId,kind,verified,reason,bundleId,environment,receiptType,createdAt,originalTransactionIds,\
        purchases\n
        """.utf8)
    }
  }

  func append(_ row: Row, file: String?, _ receipt: ReceiptRendering, to output: inout [UInt8]) {
    switch self {
    case .jsonl:
      output.append("{")
      if let file {
        output.append(#""file":"#)
        output.append(json: file)
        output.append(",")
      }
      output.append(#""line":"#)
      output.append(number: Int64(row.line))
      output.append(#","app":"#)
      output.append(json: row.app.map { String(decoding: $0, as: UTF8.self) })
      output.append(#","userId":"#)
      output.append(json: row.userID.map { String(decoding: $0, as: UTF8.self) })
      output.append(",")
      receipt.append(to: &output)
    case .csv: appendCSV(row, file: file, receipt, to: &output)
    case .ids:
      output.append(receipt.originalTransactionIDs.joined(separator: "\n"))
    }
    output.append(0x0A)
  }

  /// Ids separated by spaces, purchases as JSON.
  private func appendCSV(_ row: Row, file: String?, _ receipt: ReceiptRendering, to output: inout [UInt8]) {
    func add(_ bytes: (some Collection<UInt8>)?) {
      if let bytes { Self.append(field: bytes, to: &output) }
      output.append(UInt8(ascii: ","))
    }
    add(file?.utf8)
    output.append(number: Int64(row.line))
    output.append(",")
    add(row.app)
    add(row.userID)
    output.append(receipt.kind)
    output.append(receipt.isVerified ? ",true,," : ",false,notVerified,")
    add(receipt.receipt.bundleID?.utf8)
    add(receipt.environment?.utf8)
    add(receipt.receiptType?.utf8)
    if let date = receipt.createdAt { output.append(number: date.sinceEpoch) }
    output.append(",")
    add(receipt.originalTransactionIDs.joined(separator: " ").utf8)
    var purchases: [UInt8] = []
    receipt.appendPurchases(to: &purchases)
    Self.append(field: purchases, to: &output)
  }

  /// Quoted when it has to be.
  static func append(
    field: some Collection<UInt8>, delimiter: UInt8 = UInt8(ascii: ","), to output: inout [UInt8]
  ) {
    let needsQuotes = field.contains { $0 == delimiter || $0 == CSVDialect.quote || $0 == 0x0A || $0 == 0x0D }
    guard needsQuotes else { return output.append(contentsOf: field) }
    output.append(CSVDialect.quote)
    for byte in field {
      if byte == CSVDialect.quote { output.append(byte) }
      output.append(byte)
    }
    output.append(CSVDialect.quote)
  }
}
