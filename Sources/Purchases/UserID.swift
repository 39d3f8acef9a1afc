/// A back end's own ID of a user.
public enum UserID {
  /// The words of databases and languages for a missing value, in lower case.
  private static let wordsForNothing: Set<String> = [
    "\\n", "null", "(null)", "<null>", "nil", "<nil>", "none", "undefined", "nan", "0", "-1", "-", "n/a", "unknown",
    "anonymous", "guest", "00000000-0000-0000-0000-000000000000",
  ]
  private static let longestWord = 36

  /// Whether the text is not a user: it is blank, in any script, or a word for a missing value.
  ///
  /// As a user, it would be one account that strangers share.
  public static func isNobody(_ text: String) -> Bool {
    // Most IDs are longer than these words.
    guard text.utf8.count <= longestWord || text.first?.isWhitespace == true else { return false }
    let word = text.split(whereSeparator: \.isWhitespace)
    return word.isEmpty || word.count == 1 && wordsForNothing.contains(word[0].lowercased())
  }
}
