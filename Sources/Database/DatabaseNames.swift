extension Session {
  /// Creates the database unless it exists.
  ///
  /// Its name has a-z, 0-9 and _, at most 64 characters (`misuse` otherwise).
  ///
  /// A name cannot be a parameter, so this one is checked by character.
  package func createDatabase(_ name: String) throws(DatabaseError) {
    let isSound = name.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"): true
      default: false
      }
    }
    guard isSound, 1...64 ~= name.utf8.count else {
      throw DatabaseError(.misuse, "a database's name is 1 to 64 of a-z, 0-9 and _")
    }
    try send("CREATE DATABASE IF NOT EXISTS `\(name)` COLLATE utf8mb4_bin")
  }
}
