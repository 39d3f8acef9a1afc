import Database
import Operations
import Runtime
import Signing

/// The key that seals secrets: a file that only its owner may read.
struct MasterKeyOptions: Sendable {
  static let options: [Option] = [
    .value(
      "master-key-file", "FILE", environment: "SWITCHYARD_MASTER_KEY_FILE",
      "The key that seals secrets: 32 bytes or 64 hexadecimal digits. Without it: master.key in --data-dir, made if need be."
    )
  ]

  let path: String
  /// Whether the file was named, and so must exist.
  let isNamed: Bool
  private let directory: String

  init(_ arguments: ParsedArguments, database: DatabaseOptions) {
    directory = database.dataDirectory
    isNamed = arguments.value("master-key-file") != nil
    path = arguments.value("master-key-file") ?? "\(directory)/master.key"
  }

  /// Whether the file exists, or was named and so must exist.
  var isThere: Bool { isNamed || FileMetadata(path) != nil }

  /// Returns the key.
  ///
  /// Creates the data directory's if it does not exist.
  ///
  /// - Parameters:
  ///   - hasSealed: whether the database is sealed under a key that must be this one.
  ///   - note: receives warnings: a key was created, or others may read it.
  func load(hasSealed: Bool, note: (String) -> Void) throws -> Keyring {
    if !isThere {
      // A new key would open no existing secret, unnoticed until one is needed.
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

  /// Returns a source for operations, which load the key when they seal.
  func source(_ note: @escaping @Sendable (String) -> Void) -> KeySource {
    KeySource { hasSealed in try load(hasSealed: hasSealed, note: note) }
  }

  func source(_ terminal: Terminal) -> KeySource { source { terminal.note($0) } }

  /// Returns the key of this database.
  ///
  /// Creates and claims one if it is missing.
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
      // Another process created it at the same time: use that one.
      guard case .exists = error else { throw error }
    }
  }
}

/// The key is missing although the data that it seals exists.
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

struct MasterKeyFileError: ExitStatusError, CustomStringConvertible {
  let path: String
  let reason: String

  var exitStatus: ExitStatus { .failed }
  var description: String { "\(path) holds no master key: \(reason)" }
}
