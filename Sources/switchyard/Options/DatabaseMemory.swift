import Database
import Runtime

/// How much memory the private database takes for its buffer pool.
enum DatabaseMemory {
  static let option = Option.value(
    "database-memory", "SIZE", environment: "SWITCHYARD_DATABASE_MEMORY",
    "Buffer pool of the private database, as 512M or 2G: from 32M to this machine's memory. Used by the process that "
      + "starts the database. Without it: a quarter of the memory, or of the control group's limit.")

  /// The least that a server works with.
  static let least = ByteSize(32 << 20)

  /// In bytes, within the bounds.
  static func size(_ arguments: ParsedArguments) throws(UsageError) -> ByteSize {
    let memory = max(least, ByteSize(MachineMemory().bytes))
    return try arguments.size("database-memory", in: least...memory) ?? standard(of: memory)
  }

  /// What is taken of so much memory unless an operator says otherwise.
  static func standard(of memory: ByteSize) -> ByteSize { max(least, ByteSize(memory.bytes / 4)) }
}
