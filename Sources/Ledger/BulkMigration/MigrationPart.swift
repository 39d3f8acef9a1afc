/// Up to where the rows of a part are in the ledger.
package struct SourcePosition: Hashable, Sendable {
  /// The file of a folder; nil before the first, and where there is only one.
  package var file: String?
  /// Rows that begin before it, in the decompressed input, are done.
  package var position: Int64
  /// Of a table: the last key that is done.
  package var key: String?

  package init(file: String? = nil, position: Int64 = 0, key: String? = nil) {
    (self.file, self.position, self.key) = (file, position, key)
  }

  package static let start = Self()
}

/// A part of a job's sources that this process alone reads, until the lease ends.
package struct MigrationPart: Hashable, Sendable {
  package let job: Int
  package let number: Int
  /// How to read it; JSON.
  package let source: String
  /// What opens it, sealed.
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

/// How a part stands, for whoever looks.
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
