import Database
import Ledger
import Runtime
import Service

enum DiskHeadroom {
  static let option = Option.value(
    "disk-headroom", "SIZE", default: ByteSize(Int(DiskSpaceMonitor.Settings.standard)).exact,
    environment: "SWITCHYARD_DISK_HEADROOM",
    "Disk space that must stay free where the private database's files are, as 512M or 2G. With less, unproven messages are not kept; "
      + "with less than a quarter of it, every sender is answered 503 \"disk full\". 0 disables this.")

  /// Returns bytes.
  static func size(_ arguments: ParsedArguments) throws(UsageError) -> UInt64 {
    let size = try arguments.size("disk-headroom", in: ByteSize(0)...ByteSize(1 << 50))
    return UInt64(size?.bytes ?? Int(DiskSpaceMonitor.Settings.standard))
  }

  /// Returns the writable bytes at the private database's files, or at their expected location.
  static func free(_ database: DatabaseOptions) -> UInt64? {
    EmbeddedServer.dataDirectory(of: database.embeddedDirectory).flatMap { FileMetadata.freeSpace(at: $0) }
      ?? FileMetadata.freeSpace(at: database.dataDirectory)
  }

  /// Returns the settings of `serve`; `nil` with --database, whose disk is not visible from here.
  static func settings(
    _ arguments: ParsedArguments, _ database: DatabaseOptions
  ) throws(UsageError) -> DiskSpaceMonitor.Settings? {
    let headroom = try size(arguments)
    guard database.url == nil, headroom > 0 else { return nil }
    return DiskSpaceMonitor.Settings(headroom: headroom) { free(database) }
  }
}
