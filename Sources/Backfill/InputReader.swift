import Compression
package import Runtime
import Synchronization

/// Reads a file, stdin or every file of a folder, opened and cut into blocks of rows.
///
/// On a thread of its own: reading blocks.
package actor InputReader {
  /// How much is read at once, and about the size of a block, in bytes.
  package static let chunk = 512 << 10

  private let executor = SerialQueueExecutor(label: "extract input")
  package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  private let isFolder: Bool
  private let limits: RowLimits
  private let named: NamedColumns
  private let chunk: Int
  private let progress: ExtractionProgress
  private let isStopped: @Sendable () -> Bool
  private var waiting: ArraySlice<String>
  private var open: OpenInput?
  private var ready: ArraySlice<Block> = []

  /// - Parameter isStopped: asked between two pieces; when true the input ends there.
  package init(
    _ path: String, rowLimit: Int = 4 << 20, progress: ExtractionProgress,
    isStopped: @escaping @Sendable () -> Bool = { false }
  ) throws(FileError) {
    let isFolder = path != "-" && FileMetadata(path)?.isDirectory == true
    let paths = isFolder ? try DirectoryListing.paths(below: path) : [path]
    self.isFolder = isFolder
    limits = RowLimits(row: rowLimit)
    named = NamedColumns()
    chunk = Self.chunk
    self.progress = progress
    self.isStopped = isStopped
    waiting = paths[...]
    if isFolder {
      progress.expect(bytes: paths.reduce(0) { $0 + (FileMetadata($1)?.size ?? 0) })
    } else {
      // Opened now, so that what cannot be read is said before anything is written.
      let input = OpenInput(try InputFile(path), RowReader(limits: limits))
      if let size = input.file.size { progress.expect(bytes: size) }
      open = input
      waiting = []
    }
  }

  /// Reads these files of a folder, one after the other; each is opened when its turn comes.
  ///
  /// - Parameters:
  ///   - isFolder: whether each block names its file.
  ///   - named: the columns that an operator named.
  ///   - chunk: how much is read at once, in bytes.
  package init(
    files: [String], isFolder: Bool, named: NamedColumns = NamedColumns(), rowLimit: Int = 4 << 20,
    chunk: Int = InputReader.chunk, progress: ExtractionProgress, isStopped: @escaping @Sendable () -> Bool = { false }
  ) {
    self.isFolder = isFolder
    self.named = named
    self.chunk = chunk
    limits = RowLimits(row: rowLimit)
    self.progress = progress
    self.isStopped = isStopped
    waiting = files[...]
    progress.expect(bytes: files.reduce(0) { $0 + (FileMetadata($1)?.size ?? 0) })
  }

  /// Whether `next` failed because of what is in a file, so that its rest cannot be read by any other attempt.
  package static func isDamage(_ error: any Error) -> Bool {
    if let error = error as? CompressionError { return error.code == .damaged }
    return (error as? FileError)?.isDamage == true
  }

  /// The next block in the order of the input; nil at the end.
  package func next() throws -> Block? {
    while true {
      if let block = ready.popFirst() { return block }
      if isStopped() { return nil }
      if open == nil {
        guard let path = waiting.popFirst() else {
          progress.noteEnd()
          return nil
        }
        open = OpenInput(try InputFile(path), RowReader(file: isFolder ? path : nil, limits: limits, named: named))
      }
      guard let input = open else { continue }
      ready = try advance(input)[...]
    }
  }

  private func advance(_ input: OpenInput) throws -> [Block] {
    guard let bytes = try bytes(of: input) else { return [] }
    let isNew = input.rows.format == nil
    let blocks = bytes.isEmpty ? input.rows.finish() : input.rows.blocks(adding: bytes)
    if bytes.isEmpty { open = nil }
    if isNew, let format = input.rows.format {
      progress.note(format: format, isCompressed: input.decompressor != nil)
    }
    return blocks
  }

  /// The next bytes as they are when opened: nil when there are none yet, empty at the end.
  private func bytes(of input: OpenInput) throws -> [UInt8]? {
    if let decompressor = input.decompressor {
      let bytes = try decompressor.next(upTo: chunk)
      if !bytes.isEmpty { return bytes }
    }
    guard input.file.isReady(within: 100) else { return nil }
    let bytes = try input.file.read(chunk)
    progress.note(bytesRead: bytes.count)
    if let decompressor = input.decompressor {
      guard !bytes.isEmpty else {
        guard decompressor.isComplete else {
          throw FileError(input.file.path, reason: "ends within compressed data", isDamage: true)
        }
        return []
      }
      decompressor.take(bytes)
      return nil
    }
    guard input.isUntouched else { return bytes }
    input.signature += bytes
    guard bytes.isEmpty || input.signature.count >= CompressionFormat.signatureLength else { return nil }
    input.isUntouched = false
    let first = input.signature
    input.signature = []
    guard let decompressor = try CompressionFormat(beginning: first[...]).decompressor() else {
      if first.starts(with: [0xFF, 0xFE]) || first.starts(with: [0xFE, 0xFF]) {
        throw FileError(
          input.file.path, reason: "the text is UTF-16. Convert it: iconv -f UTF-16 -t UTF-8", isDamage: true)
      }
      return first
    }
    input.decompressor = decompressor
    decompressor.take(first)
    return nil
  }
}

/// A file in the middle of being read.
private final class OpenInput {
  let file: InputFile
  var rows: RowReader
  var decompressor: (any Decompressor)?
  var isUntouched = true
  var signature: [UInt8] = []

  init(_ file: InputFile, _ rows: RowReader) {
    self.file = file
    self.rows = rows
  }
}
