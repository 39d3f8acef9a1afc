/// How bytes are compressed, told by how they begin.
package enum CompressionFormat: String, Sendable, CaseIterable {
  case none, gzip, zstd

  /// As many bytes as `init(beginning:)` looks at.
  package static let signatureLength = 4

  package init(beginning bytes: ArraySlice<UInt8>) {
    if bytes.starts(with: [0x1F, 0x8B]) {
      self = .gzip
    } else if bytes.starts(with: [0x28, 0xB5, 0x2F, 0xFD]) || Self.isSkippableFrame(bytes) {
      self = .zstd
    } else {
      self = .none
    }
  }

  /// A frame of Zstandard that holds no data, of which parallel packers write one before each of the others.
  private static func isSkippableFrame(_ bytes: ArraySlice<UInt8>) -> Bool {
    bytes.first.map { $0 & 0xF0 == 0x50 } == true && bytes.dropFirst().starts(with: [0x2A, 0x4D, 0x18])
  }

  /// What opens it; nil when there is nothing to open.
  package func decompressor() throws(CompressionError) -> (any Decompressor)? {
    switch self {
    case .none: nil
    case .gzip: try GzipDecompressor()
    case .zstd: try ZstdDecompressor()
    }
  }
}

/// Opens a stream piece by piece; what comes out at once is bounded by the caller, whatever the input would blow up to.
///
/// Confined to whoever reads the stream: never shared.
package protocol Decompressor: AnyObject {
  /// The next bytes of the stream; only when `next` has given nothing.
  func take(_ compressed: [UInt8])

  /// Up to `limit` bytes; empty when more of the stream is needed.
  func next(upTo limit: Int) throws(CompressionError) -> [UInt8]

  /// Whether the stream may end here: nothing is missing.
  var isComplete: Bool { get }
}

/// Why a compressed stream cannot be opened.
package struct CompressionError: Error, Equatable, CustomStringConvertible {
  package enum Code: String, Sendable {
    /// Not what it began as.
    case damaged
    /// It needs more memory than is allowed for a window, or there is none.
    case noMemory
  }

  package let code: Code
  package let detail: String

  init(_ code: Code, _ detail: String) {
    self.code = code
    self.detail = detail
  }

  package static func == (a: Self, b: Self) -> Bool { a.code == b.code }

  package var description: String { detail }
}
