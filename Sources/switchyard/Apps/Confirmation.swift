import Runtime

/// The confirmation of a change that is hard to undo, by typing the app's name.
enum Confirmation {
  /// Returns if `name` was typed on stdin or given on the command line; otherwise throws.
  static func ask(for name: String, isGiven: Bool, _ terminal: Terminal) throws(NotConfirmed) {
    if isGiven { return }
    terminal.note("Type \(name) to continue:")
    guard Terminal.readLine()?.trimmingSpaces == name else { throw NotConfirmed(name: name) }
  }
}

struct NotConfirmed: ExitStatusError, CustomStringConvertible {
  let name: String

  var exitStatus: ExitStatus { .failed }
  var description: String { "nothing was done: \(name) was not typed (or say --yes)" }
}

extension String {
  fileprivate var trimmingSpaces: String {
    var text = self[...]
    while text.last?.isWhitespace == true { text.removeLast() }
    return String(text.drop { $0.isWhitespace })
  }
}
