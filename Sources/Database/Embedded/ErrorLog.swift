/// The log of a process that was started: kept short, and its end shown where a start has failed.
enum ErrorLog {
  private static let limit = 8 << 20
  private static let shown = 4 << 10
  private static let shownLines = 25

  /// Makes sure that it is there, and the user's to write; a long one becomes `error.log.1`.
  static func prepare(_ path: String, for user: ServerUser? = nil) throws(EmbeddedServerError) {
    if let status = Files.status(path), status.size > limit { try Files.rename(path, to: "\(path).1") }
    // What is there is kept; what root made in a directory of another user becomes that user's.
    try Files.write("", to: path, appends: true)
    if let user { try Files.give(path, to: user) }
  }

  /// Its last lines.
  static func end(of path: String?) -> String {
    guard let path else { return "" }
    let text = String(decoding: Files.tail(of: path, bytes: shown), as: UTF8.self)
    let lines = text.split(separator: "\n").suffix(shownLines)
    return lines.isEmpty ? "(nothing in \(path))" : "the end of \(path):\n" + lines.joined(separator: "\n")
  }
}
