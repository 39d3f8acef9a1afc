enum ErrorLog {
  private static let limit = 8 << 20
  private static let shown = 4 << 10
  private static let shownLines = 25

  /// Creates the file, writable for the user.
  ///
  /// A long file becomes `error.log.1`.
  static func prepare(_ path: String, for user: ServerUser? = nil) throws(EmbeddedServerError) {
    if let status = Files.status(path), status.size > limit { try Files.rename(path, to: "\(path).1") }
    // Appends, so that an existing file is kept. A file that root creates in another user's directory gets that owner.
    try Files.write("", to: path, appends: true)
    if let user { try Files.give(path, to: user) }
  }

  static func end(of path: String?) -> String {
    guard let path else { return "" }
    let text = String(decoding: Files.tail(of: path, bytes: shown), as: UTF8.self)
    let lines = text.split(separator: "\n").suffix(shownLines)
    return lines.isEmpty ? "(nothing in \(path))" : "the end of \(path):\n" + lines.joined(separator: "\n")
  }
}
