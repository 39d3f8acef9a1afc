import Operations
import Runtime

extension AuditContext {
  /// Whoever runs this command, with the reason given on the command line, if one was.
  static func ofCommand(because reason: String? = nil) -> AuditContext {
    AuditContext(OperatingSystemUser.name, because: reason)
  }
}
