extension EmbeddedServer {
  /// How to reach the server that another process runs in this directory; nil while it has no socket.
  ///
  /// Nothing is started: ask it after `start` threw `inUse`. The server may be about to start or to end, so the first
  /// connection may be refused.
  package static func configuration(
    ofRunningIn directory: String, settings: Settings = Settings()
  ) throws(EmbeddedServerError) -> DatabaseConfiguration? {
    let paths = try EmbeddedPaths(directory: directory)
    guard let socket = paths.presentSocket else { return nil }
    return DatabaseConfiguration(
      address: .socket(path: socket), user: ServerUser.ourName ?? "root", database: settings.database)
  }

  /// Whether a database was made in this directory before; nothing is made or started.
  package static func hasData(in directory: String) -> Bool {
    guard Files.status(directory) != nil, let paths = try? EmbeddedPaths(directory: directory) else { return false }
    return Files.status(paths.data)?.isDirectory == true
  }
}

extension EmbeddedPaths {
  /// The socket that is there now, in `run` or where the record says.
  fileprivate var presentSocket: String? {
    let record = Files.contents(of: socketRecord, limit: 200).map { String(decoding: $0, as: UTF8.self) }
    return [run, record].compactMap(\.self).map { "\($0)/\(Self.socketName)" }.first { Files.status($0) != nil }
  }
}
