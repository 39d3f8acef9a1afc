import Database
import Glibc
import Runtime

/// The files of this repository, as tests read them.
package enum ProjectFile {
  package struct Missing: Error {
    let path: String
  }

  private static let limit = 1 << 20

  /// A file's text, by its path from the root.
  package static func text(_ path: String) throws -> String {
    guard let bytes = Files.contents(of: "\(root)/\(path)", limit: limit) else { throw Missing(path: path) }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The files below a folder, in their order.
  ///
  /// The folder and the files are named by their paths from the root; there are none where there is no such folder.
  package static func paths(below folder: String) -> [String] {
    let paths = (try? DirectoryListing.paths(below: "\(root)/\(folder)")) ?? []
    return paths.map { String($0.dropFirst(root.count + 1)) }
  }

  /// Replaces a file's text, by its path from the root.
  package static func write(_ text: String, to path: String) throws {
    let file = unsafe fopen("\(root)/\(path)", "w")
    guard let file = unsafe file else { throw Missing(path: path) }
    defer { unsafe fclose(file) }
    let bytes = Array(text.utf8)
    guard unsafe fwrite(bytes, 1, bytes.count, file) == bytes.count else { throw Missing(path: path) }
  }

  // …/Tests/Support/ProjectFile.swift
  private static let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
}
