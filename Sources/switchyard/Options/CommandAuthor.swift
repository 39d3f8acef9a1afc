import Operations
import Runtime

extension AuditContext {
  static func ofCommand(because reason: String? = nil) -> AuditContext {
    AuditContext(OperatingSystemUser.name, because: reason)
  }
}
