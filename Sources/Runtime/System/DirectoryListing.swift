import Glibc

/// The files of a folder and of the folders in it.
package enum DirectoryListing {
  /// Deeper folders are refused: links may go in circles.
  private static let depth = 32

  /// Their paths in the order of their names' bytes, so that it is the same everywhere; names that begin with a dot and
  /// what is no file are left out.
  package static func paths(below folder: String) throws(FileError) -> [String] {
    var found: [String] = []
    try collect(folder, into: &found, depth: 0)
    return found
  }

  private static func collect(_ folder: String, into found: inout [String], depth: Int) throws(FileError) {
    guard depth < Self.depth else { throw FileError(folder, reason: "too many folders within folders") }
    guard let directory = unsafe opendir(folder) else { throw FileError(folder, .last()) }
    var names: [String] = []
    while let entry = unsafe readdir(directory) {
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if !name.hasPrefix(".") { names.append(name) }
    }
    unsafe closedir(directory)
    for name in names.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
      let path = folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
      var status = stat()
      guard unsafe stat(path, &status) == 0 else { continue }
      switch status.st_mode & S_IFMT {
      case S_IFDIR: try collect(path, into: &found, depth: depth + 1)
      case S_IFREG: found.append(path)
      default: continue
      }
    }
  }
}
