/// The position in a part up to which its rows are in the ledger.
package struct SourcePosition: Hashable, Sendable {
  /// The file of a folder.
  ///
  /// `nil` before the first, and with only one file.
  package var file: String?
  /// The offset in the decompressed input.
  ///
  /// Rows that begin before it are done.
  package var position: Int64
  /// The last key of a table that is done.
  package var key: String?

  package init(file: String? = nil, position: Int64 = 0, key: String? = nil) {
    (self.file, self.position, self.key) = (file, position, key)
  }

  package static let start = Self()
}

/// A part of a job's sources that only this process reads, until the lease ends.
package struct MigrationPart: Hashable, Sendable {
  package let job: Int
  package let number: Int
  package let source: String
  /// The credentials of the source, sealed.
  package let sealed: [UInt8]?
  package let size: Int64?
  package var place: SourcePosition
  package let owner: [UInt8]

  package init(
    job: Int, number: Int, source: String, sealed: [UInt8]?, size: Int64?, place: SourcePosition, owner: [UInt8]
  ) {
    self.job = job
    self.number = number
    self.source = source
    self.sealed = sealed
    self.size = size
    self.place = place
    self.owner = owner
  }
}

package struct MigrationPartReport: Hashable, Sendable {
  package let number: Int
  package let source: String
  package let sealed: [UInt8]?
  package let size: Int64?
  package let isDone: Bool
  package let isLeased: Bool
  package let place: SourcePosition
  package let rows: Int
  package let bytesRead: Int64
  package let trouble: String?
}
