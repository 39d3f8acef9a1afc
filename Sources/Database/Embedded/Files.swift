import CMariaDB
import Glibc

/// The file and directory calls of the embedded server, with their errors.
package enum Files {
  struct Status {
    let isDirectory: Bool
    let isLink: Bool
    let owner: uid_t
    let group: gid_t
    let mode: mode_t
    let size: Int
  }

  static func status(_ path: String) -> Status? {
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else { return nil }
    return Status(
      isDirectory: status.st_mode & S_IFMT == S_IFDIR, isLink: status.st_mode & S_IFMT == S_IFLNK,
      owner: status.st_uid, group: status.st_gid, mode: status.st_mode & 0o7777, size: Int(status.st_size))
  }

  /// Returns the bytes that users other than root can write on the directory's disk, or `nil` if unknown.
  package static func freeBytes(onDiskOf directory: String) -> Int? {
    var status = statvfs()
    guard unsafe statvfs(directory, &status) == 0 else { return nil }
    return Int(clamping: UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize)).partialValue)
  }

  /// Creates the directory and its missing parents.
  ///
  /// An existing one is unchanged.
  static func makeDirectories(_ path: String, mode: mode_t) throws(EmbeddedServerError) {
    if status(path)?.isDirectory == true { return }
    let parent = parent(of: path)
    if parent != path, status(parent) == nil { try makeDirectories(parent, mode: 0o755) }
    guard unsafe mkdir(path, mode) == 0 || errno == EEXIST else { throw failure("make directory", path) }
    // Independent of the umask. A link to a directory is followed. Other files in the way are reported when they are
    // used.
    if status(path)?.isLink == false { try change(directory: path, mode: mode) }
  }

  static func change(_ path: String, mode: mode_t) throws(EmbeddedServerError) {
    guard unsafe chmod(path, mode) == 0 else { throw failure("change the mode of", path) }
  }

  /// Changes the mode of a directory without following a link that may have replaced it.
  private static func change(directory path: String, mode: mode_t) throws(EmbeddedServerError) {
    let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure("open", path) }
    defer { close(descriptor) }
    guard fchmod(descriptor, mode) == 0 else { throw failure("change the mode of", path) }
  }

  static func give(_ path: String, to user: ServerUser) throws(EmbeddedServerError) {
    guard user.isAnother else { return }
    guard unsafe lchown(path, user.id, user.group) == 0 else { throw failure("change the owner of", path) }
  }

  /// Changes the owner of a file that root created to the directory's owner, whose processes use it too.
  ///
  /// Only root's own file with a single name: a user with write access to the directory could link another file there.
  static func give(_ descriptor: Int32, toOwnerOf directory: String) throws(EmbeddedServerError) {
    guard geteuid() == 0, let owner = Self.status(directory), owner.owner != 0 else { return }
    var file = stat()
    guard unsafe fstat(descriptor, &file) == 0, file.st_mode & S_IFMT == S_IFREG, file.st_nlink == 1, file.st_uid == 0
    else { return }
    guard fchown(descriptor, owner.owner, owner.group) == 0 else {
      throw failure("change the owner of a file in", directory)
    }
  }

  static func rename(_ path: String, to new: String) throws(EmbeddedServerError) {
    guard unsafe Glibc.rename(path, new) == 0 else { throw failure("rename", path) }
  }

  /// Returns the path without links, `.` and `..`.
  static func resolved(_ path: String) throws(EmbeddedServerError) -> String {
    guard let real = unsafe realpath(path, nil) else { throw failure("find", path) }
    defer { unsafe free(real) }
    return unsafe String(cString: real)
  }

  static func parent(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  package static func names(in directory: String) -> [String] {
    let descriptor = unsafe open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    return descriptor < 0 ? [] : names(closing: descriptor)
  }

  private static func names(closing descriptor: Int32) -> [String] {
    guard let stream = unsafe fdopendir(descriptor) else {
      close(descriptor)
      return []
    }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        unsafe String(cString: UnsafeRawPointer(pointer).assumingMemoryBound(to: CChar.self))
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }

  /// Deeper directories are kept: the server creates none.
  private static let depth = 32

  /// Removes the file or the whole directory as far as possible.
  ///
  /// Links are removed, never followed. Each directory is opened and its entries are removed through its descriptor, so
  /// that a user with write access cannot lead root elsewhere by a link.
  ///
  /// - Parameter owner: the required owner of the directory. `nil`: any.
  package static func remove(_ path: String, ownedBy owner: UInt32? = nil) {
    remove(path, in: AT_FDCWD, ownedBy: owner, depth: depth)
  }

  private static func remove(_ name: String, in parent: Int32, ownedBy owner: UInt32? = nil, depth: Int) {
    let directory = unsafe openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard directory >= 0 else {
      if owner == nil { _ = unsafe unlinkat(parent, name, 0) }
      return
    }
    defer { close(directory) }
    var status = stat()
    guard depth > 0, unsafe fstat(directory, &status) == 0, owner ?? status.st_uid == status.st_uid else { return }
    for entry in names(closing: fcntl(directory, F_DUPFD_CLOEXEC, 0)) {
      remove(entry, in: directory, depth: depth - 1)
    }
    _ = unsafe unlinkat(parent, name, AT_REMOVEDIR)
  }

  /// Syncs the directory, so that new and renamed entries survive a power failure.
  static func synchronize(directory: String) {
    let descriptor = unsafe open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    fsync(descriptor)
    close(descriptor)
  }

  static func tail(of path: String, bytes limit: Int) -> [UInt8] {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return [] }
    defer { close(descriptor) }
    let size = Int(lseek(descriptor, 0, SEEK_END))
    lseek(descriptor, max(0, size - limit), SEEK_SET)
    return contents(of: descriptor, limit: limit)
  }

  /// Returns the contents of a file of unknown size (0 in /proc), up to the limit.
  package static func contents(of path: String, limit: Int) -> [UInt8]? {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    return contents(of: descriptor, limit: limit)
  }

  /// - Parameter appends: whether the present contents stay.
  static func write(_ text: String, to path: String, appends: Bool = false) throws(EmbeddedServerError) {
    let mode = appends ? O_APPEND : O_TRUNC
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | mode | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw failure("write", path) }
    defer { close(descriptor) }
    try give(descriptor, toOwnerOf: parent(of: path))
    let bytes = Array(text.utf8)
    guard unsafe Glibc.write(descriptor, bytes, bytes.count) == bytes.count else { throw failure("write", path) }
  }

  static func failure(_ what: String, _ path: String) -> EmbeddedServerError {
    let reason = errno
    let code = reason == EMFILE || reason == ENFILE ? EmbeddedServerError.Code.tooManyFiles : .directory
    return unsafe EmbeddedServerError(code, "cannot \(what) \(path): \(String(cString: strerror(reason)))")
  }

  static var areExhausted: Bool {
    let descriptor = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
    if descriptor < 0 { return errno == EMFILE || errno == ENFILE }
    close(descriptor)
    return false
  }

  private static func contents(of descriptor: Int32, limit: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: min(limit, 64 << 10))
    while bytes.count < limit {
      let got = unsafe read(descriptor, &part, min(part.count, limit - bytes.count))
      guard got > 0 else { break }
      bytes += part[..<got]
    }
    return bytes
  }
}
