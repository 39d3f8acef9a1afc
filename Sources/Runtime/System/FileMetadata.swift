import Glibc

/// What the file system says of a path; links are followed.
package struct FileMetadata: Hashable, Sendable {
  package let isDirectory: Bool
  /// Whether it is a file with content of its own: no pipe, no device.
  package let isRegular: Bool
  /// The permission bits alone: 0o600.
  package let mode: UInt32
  /// Whether the user of this process owns it.
  package let isOurs: Bool
  /// Whether neither root nor the user of this process owns it.
  package let isOfStranger: Bool
  /// In bytes, of a file.
  package let size: Int64
  /// When its content was last changed, in seconds.
  package let modifiedAt: Int64

  /// Nil when there is nothing, or nothing that we may look at.
  package init?(_ path: String) {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return nil }
    isDirectory = status.st_mode & S_IFMT == S_IFDIR
    isRegular = status.st_mode & S_IFMT == S_IFREG
    mode = status.st_mode & 0o7777
    isOurs = status.st_uid == geteuid()
    isOfStranger = status.st_uid != 0 && !isOurs
    size = Int64(status.st_size)
    modifiedAt = Int64(status.st_mtim.tv_sec)
  }

  /// The bytes an ordinary user may still write on the file system of `path`; nil when it cannot be asked.
  package static func freeSpace(at path: String) -> UInt64? {
    var status = statvfs()
    guard unsafe statvfs(path, &status) == 0 else { return nil }
    return UInt64(status.f_bavail) * UInt64(status.f_frsize)
  }

  /// The path from the root on; links stay as they are.
  package static func absolute(_ path: String) -> String {
    if path.hasPrefix("/") { return path }
    guard let here = unsafe getcwd(nil, 0) else { return path }
    defer { unsafe free(here) }
    return unsafe "\(String(cString: here))/\(path)"
  }

  /// Makes the directory for its owner, and what is missing above it.
  package static func makeDirectory(_ path: String) -> Bool {
    if unsafe mkdir(path, 0o755) == 0 || errno == EEXIST { return true }
    guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return false }
    return makeDirectory(String(path[..<slash])) && (unsafe mkdir(path, 0o755) == 0 || errno == EEXIST)
  }
}
