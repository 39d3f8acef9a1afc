import Operations
import Runtime

extension AuditContext {
  /// The user of this command, with the reason on the command line, if any.
  static func ofCommand(because reason: String? = nil) -> AuditContext {
    AuditContext(OperatingSystemUser.name, because: reason)
  }
}
