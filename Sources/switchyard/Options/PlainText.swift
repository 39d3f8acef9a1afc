import JSON

extension String {
  /// Untrusted text in JSON escapes: no control character reaches the terminal.
  var plain: String { String(decoding: JSONValue.string(self).encoded().dropFirst().dropLast(), as: UTF8.self) }
}
