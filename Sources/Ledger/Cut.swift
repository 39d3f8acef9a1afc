extension String {
  /// The text, or as much of its beginning as fits a column of `width` bytes: whole characters, never half of one.
  func cut(to width: Int) -> String {
    if utf8.count <= width { return self }
    var cut = ""
    for scalar in unicodeScalars {
      guard cut.utf8.count + UTF8.width(scalar) <= width else { break }
      cut.unicodeScalars.append(scalar)
    }
    return cut
  }
}
