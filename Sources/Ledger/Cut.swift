extension String {
  /// Returns the text, or its longest prefix of whole characters that fits a column of `width` bytes.
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
