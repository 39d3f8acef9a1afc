package import Runtime

package struct NoSuchMessage: ExitStatusError, CustomStringConvertible {
  package let place: String
  package let prefix: String

  package init(where place: String, prefix: String) {
    self.place = place
    self.prefix = prefix
  }

  package var exitStatus: ExitStatus { .failed }
  package var description: String { "nothing in \(place) has a digest that begins with \(prefix)" }
}
