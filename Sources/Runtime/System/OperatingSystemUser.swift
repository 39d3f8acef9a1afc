import Glibc

/// Who runs this process, by the operating system's word: the actor of the audit.
package enum OperatingSystemUser {
  /// The login name; the number of a user without one.
  ///
  /// Under `sudo` it is root, with the name of whoever called it.
  package static var name: String {
    let caller = unsafe getenv("SUDO_USER").map { unsafe String(cString: $0) }
    guard let entry = unsafe getpwuid(geteuid()) else { return "uid \(geteuid())" }
    let name = unsafe String(cString: entry.pointee.pw_name)
    guard let caller, !caller.isEmpty, caller != name else { return name }
    return "\(name) (sudo by \(SafeText.escaped(caller, limit: 64)))"
  }
}
