import JSON

extension String {
  /// A stranger's text, as JSON writes it: no control character reaches the terminal.
  var plain: String { String(decoding: JSONValue.string(self).encoded().dropFirst().dropLast(), as: UTF8.self) }
}
