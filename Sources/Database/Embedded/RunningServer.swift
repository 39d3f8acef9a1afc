extension EmbeddedServer {
  /// How to reach the server that another process runs in this directory; nil while it has no socket.
  ///
  /// Nothing is started. The server may be about to start or to end, so the first connection may be refused.
  package static func configuration(
    ofRunningIn directory: String, settings: Settings = Settings()
  ) throws(EmbeddedServerError) -> DatabaseConfiguration? {
    try EmbeddedPaths(directory: directory).configuration(settings)
  }

  /// As which other user the database of this directory runs, started by root; nil when it is ours, or none is there.
  package static func otherUser(ofDataIn directory: String) -> String? {
    guard hasData(in: directory), let paths = try? EmbeddedPaths(directory: directory), paths.user.isAnother else {
      return nil
    }
    return paths.user.name
  }

  /// Whether a database was made in this directory before; nothing is made or started.
  package static func hasData(in directory: String) -> Bool { dataDirectory(of: directory) != nil }

  /// Where the files of the database are that was made in this directory; nil before it was.
  ///
  /// Nothing is made or started. They are elsewhere where the server's user cannot enter the directory.
  package static func dataDirectory(of directory: String) -> String? {
    guard Files.status(directory) != nil, let paths = try? EmbeddedPaths(directory: directory),
      Files.status(paths.data)?.isDirectory == true
    else { return nil }
    return paths.data
  }
}

extension EmbeddedPaths {
  /// How to reach the server whose socket is there now; nil when there is none.
  func configuration(_ settings: EmbeddedServer.Settings) -> DatabaseConfiguration? {
    presentSocket.map { socket in
      DatabaseConfiguration(
        address: .socket(path: socket), user: ServerUser.ourName ?? "root", database: settings.database)
    }
  }

  /// The socket that is there now, in `run` or where the record says.
  private var presentSocket: String? {
    [run, recordedSocketDirectory].compactMap(\.self).map { "\($0)/\(Self.socketName)" }
      .first { Files.status($0) != nil }
  }
}
