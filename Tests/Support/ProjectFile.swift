import Database

/// The files of this repository, as tests read them.
package enum ProjectFile {
  package struct Missing: Error {
    let path: String
  }

  private static let limit = 1 << 20

  /// A file's text, by its path from the root.
  package static func text(_ path: String) throws -> String {
    // …/Tests/Support/ProjectFile.swift
    let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    guard let bytes = Files.contents(of: "\(root)/\(path)", limit: limit) else { throw Missing(path: path) }
    return String(decoding: bytes, as: UTF8.self)
  }
}
