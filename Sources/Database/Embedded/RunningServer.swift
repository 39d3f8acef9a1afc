extension EmbeddedServer {
  /// Returns the configuration of the server that another process runs in this directory, or `nil` without a socket.
  ///
  /// It starts no server. The server may be starting or stopping, so the first connection may be refused.
  package static func configuration(
    ofRunningIn directory: String, settings: Settings = Settings()
  ) throws(EmbeddedServerError) -> DatabaseConfiguration? {
    try EmbeddedPaths(directory: directory).configuration(settings)
  }

  /// Returns the other user that runs this directory's database after a start by root, or `nil`.
  package static func otherUser(ofDataIn directory: String) -> String? {
    guard hasData(in: directory), let paths = try? EmbeddedPaths(directory: directory), paths.user.isAnother else {
      return nil
    }
    return paths.user.name
  }

  /// Whether the directory has a database.
  ///
  /// The call creates and starts nothing.
  package static func hasData(in directory: String) -> Bool { dataDirectory(of: directory) != nil }

  /// Returns the directory of the database's files, or `nil` before it is created.
  ///
  /// The call creates and starts nothing. The files are elsewhere if the server's user cannot enter the directory.
  package static func dataDirectory(of directory: String) -> String? {
    guard Files.status(directory) != nil, let paths = try? EmbeddedPaths(directory: directory),
      Files.status(paths.data)?.isDirectory == true
    else { return nil }
    return paths.data
  }
}

extension EmbeddedPaths {
  func configuration(_ settings: EmbeddedServer.Settings) -> DatabaseConfiguration? {
    presentSocket.map { socket in
      DatabaseConfiguration(
        address: .socket(path: socket), user: ServerUser.ourName ?? "root", database: settings.database)
    }
  }

  private var presentSocket: String? {
    [run, recordedSocketDirectory].compactMap(\.self).map { "\($0)/\(Self.socketName)" }
      .first { Files.status($0) != nil }
  }
}
