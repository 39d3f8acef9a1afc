import Glibc

/// The account the server runs under, and the name by which it knows *us*.
///
/// As root: the owner of an existing data directory, else the system user `mysql`, else `nobody`. A machine where other
/// services run as `nobody` should have a user `mysql`: processes of one user can read each other's files. Not root:
/// we ourselves.
struct ServerUser: Equatable {
  let id: uid_t
  let group: gid_t
  let name: String
  /// Whether the server has to become this user, because we are root.
  let isAnother: Bool

  /// The database account that the kernel's word on our user id opens (`unix_socket`); nil for a user id without a
  /// name, where an account without a password has to do, behind the directory's 0700.
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

  /// The first directory on the way to `path`, itself included, that this user may not pass; nil when there is none.
  ///
  /// Reads the permission bits; access lists are not considered.
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
