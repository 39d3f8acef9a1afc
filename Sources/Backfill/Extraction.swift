package import Receipts
import Runtime

/// Receipts in bulk: read, proven and written on all cores, in the order of the input, within bounded memory.
///
/// Whatever happens, what was written until then is whole lines in order: a partial output is a usable one.
package struct Extraction: Sendable {
  package struct Settings: Sendable {
    /// Takes receipts at their word: nobody is asked who signed them.
    package var isUnverified = false
    package var format = OutputFormat.jsonl
    /// Whether rejected rows are rendered at all.
    package var keepsRejects = false
    /// Whether the rejected rows of each file of a folder are rendered apart, in the form of that file.
    package var separatesRejects = false
    /// Whether cells in them that a spreadsheet would run get an apostrophe in front.
    package var quotesFormulas = false
    /// Blocks that are worked on or wait for their turn to be written.
    package var window = 2 * Processors.count + 2

    package init() {}
  }

  /// Where the lines go; called one after the other, on a thread of its own.
  package struct Sinks: Sendable {
    let output: @Sendable ([UInt8]) throws -> Void
    let rejects: @Sendable (_ rows: [UInt8], _ file: String?) throws -> Void

    package init(
      output: @escaping @Sendable ([UInt8]) throws -> Void,
      rejects: @escaping @Sendable ([UInt8]) throws -> Void = { _ in }
    ) {
      self.init(output: output, rejectsByFile: { rows, _ in try rejects(rows) })
    }

    /// - Parameter rejectsByFile: is told of which file of a folder the rejected rows are; nil when there is only one.
    package init(
      output: @escaping @Sendable ([UInt8]) throws -> Void,
      rejectsByFile: @escaping @Sendable (_ rows: [UInt8], _ file: String?) throws -> Void
    ) {
      self.output = output
      rejects = rejectsByFile
    }
  }

  private let reader: ReceiptReader
  private let settings: Settings

  package init(reader: ReceiptReader, settings: Settings) {
    self.reader = reader
    self.settings = settings
  }

  /// Takes the whole input; what became of its rows.
  ///
  /// An error of the input or of an output ends it; `progress` then says how far it came.
  @concurrent package func run(
    _ input: InputReader, to sinks: Sinks, progress: ExtractionProgress
  ) async throws -> RowCounts {
    let known = KnownReceipts()
    let work = BlockProcessor(reader: reader, settings: settings, known: known)
    let writer = OrderedWriter(known: known, sinks: sinks, settings: settings, progress: progress)
    return try await withThrowingTaskGroup(of: (Int, BlockResult).self) { group in
      var given = 0
      var failure: (any Error)?
      while true {
        let block: Block?
        do { block = try await input.next() } catch {
          // What was read before is still written.
          (block, failure) = (nil, error)
        }
        guard let block else { break }
        let number = given
        given += 1
        group.addTask { (number, work.result(of: block)) }
        // A slow block holds the window, so that what waits behind it stays bounded.
        while given - (await writer.written) >= settings.window, let (number, result) = try await group.next() {
          try await writer.take(result, number: number)
        }
      }
      while let (number, result) = try await group.next() { try await writer.take(result, number: number) }
      if let failure { throw failure }
      return try await writer.finish()
    }
  }
}
