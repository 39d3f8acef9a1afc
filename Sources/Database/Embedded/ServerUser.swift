import Glibc

/// The account of the server process, and the server's name for this process's account.
///
/// As root: the owner of an existing data directory, otherwise the system user `mysql`, otherwise the unprivileged one.
/// A machine with other services of the latter should have a user `mysql`: processes of one user can read each other's
/// files. Without root: this process's user.
struct ServerUser: Equatable {
  let id: uid_t
  let group: gid_t
  let name: String
  /// Whether the server must change to this user, because this process is root.
  let isAnother: Bool

  /// The database account that the kernel authenticates by this process's user ID (`unix_socket`).
  ///
  /// `nil` for a user ID without a name. The account then has no password, behind the directory's mode 0700.
  static var ourName: String? { name(of: geteuid()) }

  static func chosen(dataDirectory: String) throws(EmbeddedServerError) -> ServerUser {
    guard geteuid() == 0 else {
      return ServerUser(id: geteuid(), group: getegid(), name: ourName ?? "\(geteuid())", isAnother: false)
    }
    if let data = Files.status(dataDirectory), data.owner != 0 {
      return ServerUser(
        id: data.owner, group: data.group, name: name(of: data.owner) ?? "\(data.owner)", isAnother: true)
    }
    for candidate in ["mysql", "nobody"] {
      guard let entry = unsafe getpwnam(candidate), unsafe entry.pointee.pw_uid != 0 else { continue }
      return unsafe ServerUser(
        id: entry.pointee.pw_uid, group: entry.pointee.pw_gid, name: candidate, isAnother: true)
    }
    // plain:ok, the name of a user
    throw EmbeddedServerError(.directory, "as root the server needs a system user 'mysql' or 'nobody' to run as")
  }

  /// Returns the first directory up to `path`, inclusive, that this user cannot enter, or `nil`.
  ///
  /// It reads the permission bits, without access lists.
  func obstacle(onTheWayTo path: String) -> String? {
    guard isAnother else { return nil }
    var way: [String] = []
    var place = path
    while place != "/" && place != "." {
      way.append(place)
      place = Files.parent(of: place)
    }
    return (way + ["/"]).reversed().first { directory in
      guard let status = Files.status(directory) else { return true }
      let needed: mode_t = status.owner == id ? 0o100 : status.group == group ? 0o010 : 0o001
      return status.mode & needed == 0
    }
  }

  private static func name(of id: uid_t) -> String? {
    guard let entry = unsafe getpwuid(id) else { return nil }
    return unsafe String(cString: entry.pointee.pw_name)
  }
}
