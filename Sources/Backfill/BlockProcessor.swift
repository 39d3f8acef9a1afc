import Receipts
import Signing
import Synchronization

/// Reads and proves the receipts of a block; any number of blocks at once.
struct BlockProcessor: Sendable {
  let reader: ReceiptReader
  let settings: Extraction.Settings
  /// What was written so far: asked before the costly part, decided by the pipeline in the order of the input.
  let known: KnownReceipts

  func result(of block: Block) -> BlockResult {
    var result = BlockResult()
    result.file = block.file
    result.doubtful = block.doubtfulLines
    var rows: [Row] = []
    rows.reserveCapacity(Self.together)
    block.forEachRow { row in
      rows.append(row)
      if rows.count == Self.together { take(&rows, of: block, &result) }
    }
    take(&rows, of: block, &result)
    return result
  }

  /// So many rows are looked up together.
  private static let together = 256

  private func take(_ rows: inout [Row], of block: Block, _ result: inout BlockResult) {
    let texts = rows.map { Self.receipts(in: $0) }
    let digests = texts.map { texts in
      texts.isEmpty ? nil : ReceiptDigest(Digest.sha256(Array(texts.joined(separator: [0x0A]))).bytes)
    }
    let seen = known.contained(in: digests)
    for (index, row) in rows.enumerated() {
      guard let digest = digests[index] else {
        if case .rejected(let reason) = row.content { reject(row, reason, block, &result) }
        continue
      }
      guard !seen[index] else {
        result.entries.append(.duplicate)
        continue
      }
      let (read, refusal) = usable(texts[index], app: row.app)
      for receipt in read { settings.format.append(row, file: block.file, receipt, to: &result.output) }
      if let refusal, read.isEmpty {
        reject(row, RejectReason(refusal.code), block, &result)
      } else {
        result.entries.append(.usable(digest, end: result.output.count))
      }
    }
    rows.removeAll(keepingCapacity: true)
  }

  /// The texts of the receipts, in a client library's object told by their content; none for a row that is rejected.
  private static func receipts(in row: Row) -> [[UInt8]] {
    func texts(_ members: [SignedMember]) -> [[UInt8]] {
      let receipts = members.filter { $0.kind == .receipt }
      return (receipts.isEmpty ? Array(members.prefix(1)) : receipts).map(\.text)
    }
    switch row.content {
    case .receipt(let text):
      let members = texts(SignedMember.all(in: text))
      return members.isEmpty ? [Array(text)] : members
    case .rejected(.empty): return row.object.map { texts(SignedMember.all(in: $0)) } ?? []
    case .rejected: return []
    }
  }

  /// Those that are of use, and why the first of the others is not.
  private func usable(
    _ texts: [[UInt8]], app: ArraySlice<UInt8>?
  ) -> (read: [ReceiptRendering], refusal: ReceiptError?) {
    var (read, refusal): ([ReceiptRendering], ReceiptError?) = ([], nil)
    for text in texts {
      switch usable(text, app: app) {
      case .success(let receipt): read.append(receipt)
      case .failure(let reason): refusal = refusal ?? reason
      }
    }
    return (read, refusal)
  }

  private func reject(_ row: Row, _ reason: RejectReason, _ block: Block, _ result: inout BlockResult) {
    result.entries.append(.rejected(reason))
    if result.misfit == nil { result.misfit = FieldCountMismatch(row, of: block) }
    guard settings.keepsRejects else { return }
    let isNamed = block.file != nil && !settings.separatesRejects
    if result.rejects.isEmpty { result.rejectHeading = Rejection.heading(of: block.format, isNamed: isNamed) }
    var formulas = FormulaCells(areQuoted: settings.quotesFormulas)
    Rejection.append(row, reason, of: block, isNamed: isNamed, &formulas, to: &result.rejects)
    result.formulas += formulas.count
  }

  private func usable(_ text: [UInt8], app: ArraySlice<UInt8>?) -> Result<ReceiptRendering, ReceiptError> {
    // A table may know its apps by other names than Apple does; what looks like a bundle id has to be the receipt's.
    let bundleID = app.flatMap { CSVColumns.isBundleID($0) ? String(decoding: $0, as: UTF8.self) : nil }
    if settings.isUnverified {
      return reader.readUnverified(text, expecting: bundleID).map { rendering($0, isVerified: false) }
    }
    let reading = reader.read(text, expecting: bundleID)
    if let refusal = reading.refusal { return .failure(refusal) }
    guard let receipt = reading.receipt else { return .failure(ReceiptError(.notAReceipt, "nothing was read")) }
    let proven = rendering(receipt, isVerified: true)
    if proven.originalTransactionIDs.isEmpty, let refusal = reading.unusable { return .failure(refusal) }
    return .success(proven)
  }

  private func rendering(_ receipt: Receipt, isVerified: Bool) -> ReceiptRendering {
    ReceiptRendering(
      receipt: receipt, isVerified: isVerified, originalTransactionIDs: receipt.originalTransactionIDs)
  }
}

/// The receipts that were written, shared by those who look for repetitions.
final class KnownReceipts: Sendable {
  private let table = Mutex(DigestTable())

  /// For each, whether it was written already; false for nil.
  func contained(in digests: some Sequence<ReceiptDigest?>) -> [Bool] {
    table.withLock { table in digests.map { $0.map { table.contains($0) } ?? false } }
  }

  /// For each entry in turn, whether it is usable and new.
  func admit(_ entries: [BlockResult.Entry]) -> [Bool] {
    table.withLock { table in
      entries.map { entry in
        switch entry {
        case .usable(let digest, _): table.insert(digest)
        case .duplicate, .rejected: false
        }
      }
    }
  }
}
