import Glibc

/// The paths of the private server.
///
/// A file that root creates in another user's home belongs to that user.
///
/// ```
/// home/               this process's. Others may enter, not list.
///   lock              flock, the ID of the process that runs the server.
///   users             locked by every process that uses the server.
///   data/             the server's, 0700.
///   data.new/         only during the creation of data.
///   run/              the server's, 0700: socket, pid file, temporary tables.
///   socket-directory  path of the socket's directory if home's path is too long.
///   error.log         the server's.
///   keeper.log        the supervisor's.
/// ```
struct EmbeddedPaths {
  let home: String
  let user: ServerUser
  /// The reason why home differs from the requested directory.
  let note: String?

  var lock: String { "\(home)/lock" }
  var users: String { "\(home)/users" }
  var data: String { "\(home)/data" }
  var newData: String { "\(home)/data.new" }
  var run: String { "\(home)/run" }
  var errorLog: String { "\(home)/error.log" }
  var keeperLog: String { "\(home)/keeper.log" }
  var socketRecord: String { "\(home)/socket-directory" }

  /// Creates the requested directory, or another one if the server's user could not reach it.
  init(directory: String) throws(EmbeddedServerError) {
    try Files.makeDirectories(directory, mode: 0o711)
    let asked = try Files.resolved(directory)
    let user = try ServerUser.chosen(dataDirectory: "\(asked)/data")
    guard let obstacle = user.obstacle(onTheWayTo: asked) else {
      self.init(home: asked, user: user, note: nil)
      return
    }
    let name = "switchyard-\(Self.digest(of: asked))"
    let home = try Self.reachable(["/var/lib/\(name)", "\(Self.temporary)/\(name)"], by: user)
    self.init(
      home: home, user: try ServerUser.chosen(dataDirectory: "\(home)/data"),
      note: "\(obstacle) cannot be entered by \(user.name), under which the database runs; its data is in \(home)")
  }

  private init(home: String, user: ServerUser, note: String?) {
    self.home = home
    self.user = user
    self.note = note
  }

  static var temporary: String { "/tmp" }

  /// Returns the directory of the socket: `run`, or a private one elsewhere if that path is too long.
  ///
  /// A restarted server gets the same one, since its users know only that path.
  func socketDirectory() throws(EmbeddedServerError) -> String {
    guard "\(run)/\(Self.socketName)".utf8.count > DatabaseConfiguration.socketLimit else { return run }
    if let recorded = recordedSocketDirectory {
      Files.remove(recorded, ownedBy: user.id)
      if unsafe mkdir(recorded, 0o700) == 0 {
        try Files.give(recorded, to: user)
        return recorded
      }
    }
    var template = Array("\(Self.temporary)/switchyard-XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw Files.failure("make a directory in", Self.temporary) }
    let directory = unsafe template.withUnsafeBufferPointer { buffer in
      unsafe String(decoding: buffer.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    try Files.give(directory, to: user)
    try Files.write(directory, to: socketRecord)
    return directory
  }

  /// Removes a socket directory outside home that this or an earlier process created.
  func removeSocketDirectory() {
    if let recorded = recordedSocketDirectory { Files.remove(recorded, ownedBy: user.id) }
    Files.remove(socketRecord)
  }

  /// The recorded socket directory outside home, or `nil` if there is no such directory of this user.
  var recordedSocketDirectory: String? {
    guard let record = Files.contents(of: socketRecord, limit: 200) else { return nil }
    let directory = String(decoding: record, as: UTF8.self)
    let name = directory.dropFirst(Self.temporary.utf8.count + 1)
    return directory.hasPrefix("\(Self.temporary)/switchyard-") && !name.contains("/") ? directory : nil
  }

  static let socketName = "mariadbd.sock"

  /// Returns the first directory that can be created, is writable only for this user, and is reachable for `user`.
  private static func reachable(_ places: [String], by user: ServerUser) throws(EmbeddedServerError) -> String {
    for place in places {
      do throws(EmbeddedServerError) { try Files.makeDirectories(place, mode: 0o711) } catch { continue }
      guard let status = Files.status(place), status.isDirectory, status.owner == geteuid(), status.mode & 0o022 == 0,
        user.obstacle(onTheWayTo: place) == nil
      else { continue }
      return place
    }
    throw EmbeddedServerError(.directory, "no directory for the data that \(user.name) can enter: tried \(places)")
  }

  /// FNV-1a, 64 bits, so that one path always finds the same data.
  private static func digest(of path: String) -> String {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in path.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return String(hash, radix: 16)
  }
}
