import Database
import Operations
import Runtime
import Signing

/// The key under which secrets are sealed: a file that only its owner may read.
struct MasterKeyOptions: Sendable {
  static let options: [Option] = [
    .value(
      "master-key-file", "FILE", environment: "SWITCHYARD_MASTER_KEY_FILE",
      "The key that seals secrets: 32 bytes or 64 hexadecimal digits. Without it: master.key in --data-dir, made if need be."
    )
  ]

  let path: String
  /// Whether the file was named, so that it has to be there.
  let isNamed: Bool
  private let directory: String

  init(_ arguments: ParsedArguments, database: DatabaseOptions) {
    directory = database.dataDirectory
    isNamed = arguments.value("master-key-file") != nil
    path = arguments.value("master-key-file") ?? "\(directory)/master.key"
  }

  /// Whether the file is there, or was named and so has to be.
  var isThere: Bool { isNamed || FileMetadata(path) != nil }

  /// The key, made now when it is the data directory's and not there yet.
  ///
  /// - Parameters:
  ///   - hasSealed: whether the database is sealed under a key that must be this one.
  ///   - note: hears that a key was made, or that others may read it.
  func load(hasSealed: Bool, note: (String) -> Void) throws -> Keyring {
    if !isThere {
      // A new key would open none of what is sealed there, and nobody would know until it is needed.
      if hasSealed { throw MissingMasterKey(path: path) }
      try make(note)
    }
    let facts = FileMetadata(path)
    if let facts, !facts.isRegular { throw MasterKeyFileError(path: path, reason: "it is not a regular file") }
    let bytes = try Input.read(path, limit: 1_024)
    if let facts, facts.mode & 0o077 != 0 {
      note("warning: others than its owner may open the master key \(path); chmod 600 it")
    }
    if let facts, facts.isOfStranger {
      note("warning: the master key \(path) belongs to another user, who can read and change it; chown it")
    }
    do throws(SealingError) { return Keyring(current: try MasterKey(file: bytes)) } catch {
      throw MasterKeyFileError(path: path, reason: error.detail)
    }
  }

  /// The same for operations, which load it when they seal something.
  func source(_ note: @escaping @Sendable (String) -> Void) -> KeySource {
    KeySource { hasSealed in try load(hasSealed: hasSealed, note: note) }
  }

  func source(_ terminal: Terminal) -> KeySource { source { terminal.note($0) } }

  /// The key of this database, made and claimed for it if it has none.
  func keys(for connection: Connection, _ note: @escaping @Sendable (String) -> Void) async throws -> Keyring {
    try await source(note).keys(for: connection)
  }

  func keys(for connection: Connection, _ terminal: Terminal) async throws -> Keyring {
    try await source(terminal).keys(for: connection)
  }

  private func make(_ note: (String) -> Void) throws {
    _ = FileMetadata.makeDirectory(directory)
    do throws(PrivateFile.Failure) {
      try PrivateFile.create(path, contents: MasterKey.generate().fileContents)
      note("made a master key in \(path): keep a copy; every machine on this database needs the same")
    } catch {
      // Another process made it in the same moment: that one counts.
      guard case .exists = error else { throw error }
    }
  }
}

/// The key is gone while the data it seals is there.
struct MissingMasterKey: ExitStatusError, CustomStringConvertible {
  let path: String

  var exitStatus: ExitStatus { .failed }

  var description: String {
    """
    the master key \(path) is gone, and there is data sealed under it: put the key back, or name it with \
    --master-key-file. If it is lost for good: `switchyard db key --accept-new`
    """
  }
}

/// A master key file with something else in it.
struct MasterKeyFileError: ExitStatusError, CustomStringConvertible {
  let path: String
  let reason: String

  var exitStatus: ExitStatus { .failed }
  var description: String { "\(path) holds no master key: \(reason)" }
}
