import Glibc

struct ServerPrograms {
  let server: String
  let installer: String

  /// The directories of distributions, independent of PATH.
  static let usual = ["/usr/sbin", "/usr/bin", "/usr/libexec", "/usr/local/sbin", "/usr/local/bin"]

  /// Searches `path` (in the format of PATH), then the usual directories.
  init(searchPath path: String, then usual: [String] = Self.usual) throws(EmbeddedServerError) {
    let directories = path.split(separator: ":").map(String.init).filter { $0.hasPrefix("/") } + usual
    guard let server = Self.find(["mariadbd", "mysqld"], in: directories),
      let installer = Self.find(["mariadb-install-db", "mysql_install_db"], in: directories)
    else {
      throw EmbeddedServerError(
        .programsMissing,
        "mariadbd and mariadb-install-db were not found; on Debian: apt-get install mariadb-server-core "
          + "mariadb-client-core, or name your own database with --database")
    }
    self.server = server
    self.installer = installer
  }

  private static func find(_ names: [String], in directories: [String]) -> String? {
    for name in names {
      for directory in directories where unsafe access("\(directory)/\(name)", X_OK) == 0 {
        return "\(directory)/\(name)"
      }
    }
    return nil
  }
}
