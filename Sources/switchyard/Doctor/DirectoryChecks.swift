import Database
import Ledger
import Runtime
import Signing

struct DirectoryChecks {
  let all: [Check]

  init(_ options: DatabaseOptions, _ key: MasterKeyOptions, headroom: UInt64) {
    all =
      [Self.directory(options.dataDirectory), Self.space(options, headroom), Self.key(key)]
      + Self.databaseUser(options)
  }

  private static func directory(_ path: String) -> Check {
    guard let facts = FileMetadata(path) else {
      return .warn("data directory", "\(path) is not there yet", "the first command that needs it makes it")
    }
    guard facts.isDirectory else { return .fail("data directory", "\(path) is not a directory", "move it away") }
    guard facts.mode & 0o022 == 0 else {
      return .fail("data directory", "\(path) may be written by others", "chmod go-w \(path)")
    }
    guard facts.isOurs else {
      return .warn("data directory", "\(path) belongs to another user", "run as the user of the service")
    }
    // It holds the master key and the location of the database.
    if let free = FileMetadata.freeSpace(at: path), free < 16 << 20 {
      return .fail("data directory", "\(free >> 20) MiB are free on its disk (\(path))", "free space there")
    }
    return .ok("data directory", path)
  }

  /// Processes of one user can read each other's memory and files.
  private static func databaseUser(_ options: DatabaseOptions) -> [Check] {
    guard options.url == nil, EmbeddedServer.otherUser(ofDataIn: options.embeddedDirectory) == "nobody" else {
      return []
    }
    return [
      .warn(
        // plain:ok, the name of a user
        "database user", "the private database runs as nobody, and other programs may run as nobody, too",
        "stop the service, add a system user mysql, `chown -R mysql: \(options.embeddedDirectory)/data`, start it again"
      )
    ]
  }

  private static func space(_ options: DatabaseOptions, _ headroom: UInt64) -> Check {
    // Before the directory exists, check the disk of the current directory.
    guard let free = DiskHeadroom.free(options) ?? FileMetadata.freeSpace(at: ".") else {
      return .warn("disk space", "cannot be asked", "look at df")
    }
    let place = EmbeddedServer.dataDirectory(of: options.embeddedDirectory).map { " for \($0)" } ?? ""
    let text = "\(free >> 20) MiB free\(place), the headroom is \(headroom >> 20) MiB"
    return switch DiskSpaceLevel(free: free, headroom: headroom) {
    case .ample: .ok("disk space", text)
    case .low:
      .warn(
        "disk space", text, "free space: unproven messages are not kept; a million notifications take about 3 GiB")
    case .scarce:
      .fail("disk space", text, "free space: `serve` keeps submissions and Apple's messages, and nothing else")
    case .full: .fail("disk space", "disk full: \(text)", "free space: `serve` stores nothing and answers 503")
    }
  }

  private static func key(_ options: MasterKeyOptions) -> Check {
    guard let facts = FileMetadata(options.path) else {
      return options.isNamed
        ? .fail("master key", "\(options.path) is not there", "bring it from the backup: what it sealed needs it")
        : .warn(
          "master key", "\(options.path) is not there",
          "a new database makes it: keep a copy; a database that is sealed needs its own: runbooks/backup.md")
    }
    guard facts.mode & 0o077 == 0 else {
      return .fail("master key", "others than its owner may open \(options.path)", "chmod 600 \(options.path)")
    }
    guard !facts.isOfStranger else {
      return .fail(
        "master key", "\(options.path) belongs to another user, who can read and change it", "chown \(options.path)")
    }
    do {
      let keys = try options.load(hasSealed: true) { _ in }
      return .ok("master key", "\(options.path), id \(keys.current.id)")
    } catch {
      return .fail("master key", "\(error)", "bring it from the backup")
    }
  }
}
