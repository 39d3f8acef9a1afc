import CZstd

/// One frame of Zstandard (RFC 8878) that states its length: compressed in memory, whole.
package enum ZstdFrame {
  private static let level: Int32 = 3

  package static func compress(_ bytes: [UInt8]) -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: ZSTD_compressBound(bytes.count)) { room, filled in
      filled = unsafe bytes.withUnsafeBytes { bytes in
        unsafe ZSTD_compress(room.baseAddress, room.count, bytes.baseAddress, bytes.count, level)
      }
      precondition(ZSTD_isError(filled) == 0, "zstd has no memory")
    }
  }

  /// Returns what was compressed.
  ///
  /// - Parameter limit: a frame of more bytes is not opened.
  package static func open(_ frame: ArraySlice<UInt8>, upTo limit: Int) throws(CompressionError) -> [UInt8] {
    let length = unsafe frame.withUnsafeBytes { unsafe ZSTD_getFrameContentSize($0.baseAddress, $0.count) }
    guard length <= UInt64(limit) else { throw CompressionError(.damaged, "no zstd frame of up to \(limit) bytes") }
    var result = 0
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: Int(length)) { room, filled in
      result = unsafe frame.withUnsafeBytes { frame in
        unsafe ZSTD_decompress(room.baseAddress, room.count, frame.baseAddress, frame.count)
      }
      filled = ZSTD_isError(result) == 0 ? result : 0
    }
    guard ZSTD_isError(result) == 0, bytes.count == Int(length) else {
      throw CompressionError(.damaged, "a zstd frame is damaged")
    }
    return bytes
  }
}
