import Database
import Runtime

enum DatabaseMemory {
  static let option = Option.value(
    "database-memory", "SIZE", environment: "SWITCHYARD_DATABASE_MEMORY",
    "Buffer pool of the private database, as 512M or 2G: from 32M to this machine's memory. Used by the process that "
      + "starts the database. Without it: a quarter of the memory, or of the control group's limit.")

  /// The smallest size with which a server works.
  static let least = ByteSize(32 << 20)

  static func size(_ arguments: ParsedArguments) throws(UsageError) -> ByteSize {
    let memory = max(least, ByteSize(MachineMemory().bytes))
    return try arguments.size("database-memory", in: least...memory) ?? standard(of: memory)
  }

  static func standard(of memory: ByteSize) -> ByteSize { max(least, ByteSize(memory.bytes / 4)) }
}
