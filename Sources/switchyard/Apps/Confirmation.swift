import Runtime

/// Asks before something that is hard to take back: the app's name has to be typed.
enum Confirmation {
  /// Returns when `name` was typed on stdin, or the answer was given on the command line; else refuses.
  static func ask(for name: String, isGiven: Bool, _ terminal: Terminal) throws(NotConfirmed) {
    if isGiven { return }
    terminal.note("Type \(name) to continue:")
    guard Terminal.readLine()?.trimmingSpaces == name else { throw NotConfirmed(name: name) }
  }
}

/// The name was not typed: nothing was done.
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
