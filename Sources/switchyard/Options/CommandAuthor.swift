import Operations
import Runtime

extension Author {
  /// Whoever runs this command, with the reason given on the command line, if one was.
  static func ofCommand(because reason: String? = nil) -> Author { Author(OperatingSystemUser.name, because: reason) }
}
