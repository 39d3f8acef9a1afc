import Backfill
package import Ledger
import Runtime

/// The blocks of a part's files, one file after the other, from where the part is.
package struct FileBatches: Sendable {
  /// A file that is not what it was when the job began, so that nobody knows where to go on.
  package struct Changed: Error, CustomStringConvertible {
    let path: String
    package var description: String {
      """
      \(path) is not the file that the job began with, by its size or modification time: put it back (`cp -p`), or cancel \
      the job and start another one
      """
    }
  }

  /// A file that this process does not see; another one may.
  package struct NotSeen: Error, CustomStringConvertible {
    let path: String
    package var description: String { "no process that works sees \(path): start one where it is, or mount it" }
  }

  private let source: FileSource
  private var waiting: ArraySlice<String>
  private var open: (path: String, facts: FileMetadata, reader: InputReader, progress: ExtractionProgress)?
  /// Of the files that are done.
  private var bytesBefore: Int64 = 0

  package init(_ source: FileSource, from place: SourcePosition) throws {
    self.source = source
    guard let facts = FileMetadata(source.path) else { throw NotSeen(path: source.path) }
    guard facts.size == source.size ?? facts.size, facts.modifiedAt == source.modifiedAt ?? facts.modifiedAt else {
      throw Changed(path: source.path)
    }
    var files = try source.files(from: place.file)
    // Its end was found to be damaged: it is done.
    if place.position == .max { files.removeAll { !source.isFolder || $0 == place.file } }
    if source.isFolder, place.file != nil {
      bytesBefore = try source.files(from: nil).prefix { !files.contains($0) }
        .reduce(0) { $0 + (FileMetadata($1)?.size ?? 0) }
    }
    waiting = files[...]
  }

  package mutating func next() async throws -> SourceBatch? {
    while true {
      if open == nil {
        guard let path = waiting.popFirst() else { return nil }
        guard let facts = FileMetadata(path) else { throw NotSeen(path: path) }
        let progress = ExtractionProgress()
        let reader = InputReader(
          files: [path], isFolder: source.isFolder, named: source.columns, progress: progress)
        open = (path, facts, reader, progress)
      }
      guard let (path, facts, reader, progress) = open else { continue }
      do {
        let block = try await reader.next()
        // What was written over while it was read is two files in one, and what was cut off has not ended there.
        let after = FileMetadata(path)
        guard after.map({ $0.size == facts.size && $0.modifiedAt == facts.modifiedAt }) ?? true else {
          throw Changed(path: path)
        }
        if let block {
          return SourceBatch(content: .block(block), bytesRead: bytesBefore + progress.figures.bytesRead)
        }
      } catch let changed as Changed {
        throw changed
      } catch {
        // What cannot be opened or read may be later, or by another process.
        guard FileMetadata(path) != nil, InputReader.isDamage(error) else { throw error }
        close(progress)
        return SourceBatch(content: .damaged(file: source.isFolder ? path : nil), bytesRead: bytesBefore)
      }
      close(progress)
    }
  }

  private mutating func close(_ progress: ExtractionProgress) {
    bytesBefore += progress.figures.bytesRead
    open = nil
  }
}
