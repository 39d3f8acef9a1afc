import Runtime
import Synchronization

/// Writes the rejected rows to one file, or to a folder with one file per file of the input.
final class RejectFiles: Sendable {
  private enum Target: Sendable {
    case file(OutputFile)
    case folder(String, input: String)
  }

  private let target: Target
  /// The output for the current file of the folder, whose files are processed in order.
  private let open = Mutex<(file: String, output: OutputFile)?>(nil)

  /// Opens the file, or creates the folder.
  ///
  /// `path` is a folder when `input` is one and `path` is one already or ends with a slash.
  init(_ path: String, input: String) throws {
    let isInputFolder = input != "-" && FileMetadata(input)?.isDirectory == true
    guard isInputFolder, path.hasSuffix("/") || FileMetadata(path)?.isDirectory == true else {
      target = .file(try OutputFile(path))
      return
    }
    guard FileMetadata.makeDirectory(path) else { throw FileError(path, reason: "the folder cannot be made") }
    guard try DirectoryListing.paths(below: path).isEmpty else {
      throw FileError(path, reason: "the folder is not empty. Name another one, or remove the files in it.")
    }
    target = .folder(Self.withSlash(path), input: Self.withSlash(input))
  }

  var isSeparate: Bool {
    switch target {
    case .file: false
    case .folder: true
    }
  }

  /// Appends rows of `file`; `nil` if there is only one.
  func write(_ rows: [UInt8], of file: String?) throws {
    switch target {
    case .file(let output): try output.write(rows)
    case .folder(let folder, let input):
      let file = file ?? input
      try open.withLock { open in
        if open?.file != file { open = (file, try Self.output(for: file, in: folder, input: input)) }
        try open?.output.write(rows)
      }
    }
  }

  private static func output(for file: String, in folder: String, input: String) throws -> OutputFile {
    let path = folder + Self.name(of: file, below: input)
    if let slash = path.lastIndex(of: "/"), !FileMetadata.makeDirectory(String(path[..<slash])) {
      throw FileError(path, reason: "the folder cannot be made")
    }
    return try OutputFile(path)
  }

  private static let suffixes = [".gz", ".gzip", ".zst", ".zstd"]

  /// Returns the path below the input folder, without the suffix of compression, which rejects do not use.
  ///
  /// The suffix stays if another input file would get the same name.
  private static func name(of file: String, below input: String) -> String {
    let name = String(file.dropFirst(file.hasPrefix(input) ? input.count : 0))
    guard let suffix = suffixes.first(where: { name.hasSuffix($0) && name != $0 }) else { return name }
    let plain = String(name.dropLast(suffix.count))
    let isTaken = ([""] + suffixes).contains { $0 != suffix && FileMetadata(input + plain + $0) != nil }
    return isTaken ? name : plain
  }

  private static func withSlash(_ path: String) -> String { path.hasSuffix("/") ? path : path + "/" }

  /// Whether `path` is `input` or within it, so that writing there could change the input.
  static func isWithin(_ path: String, input: String) throws -> Bool {
    guard let source = input == "-" ? try InputFile(input).identity : FileIdentity(input) else {
      throw FileError.missing(input)
    }
    if FileIdentity(path) == source { return true }
    // A path that does not exist yet: use the nearest folder that does.
    var folder = path
    while FileMetadata(folder)?.isDirectory != true { folder = parent(of: folder) }
    while let identity = FileIdentity(folder), identity != source {
      if identity == FileIdentity(folder + "/..") { return false }
      folder += "/.."
    }
    return true
  }

  private static func parent(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }
}
