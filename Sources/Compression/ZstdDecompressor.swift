import CZstd

/// Zstandard (RFC 8878), several frames in a row as one; windows of up to 128 MB, as the program `zstd` allows.
@safe final class ZstdDecompressor: Decompressor {
  private let stream: OpaquePointer
  private var input: [UInt8] = []
  private var offset = 0
  private(set) var isComplete = false

  init() throws(CompressionError) {
    guard let stream = unsafe ZSTD_createDStream() else {
      throw CompressionError(.noMemory, "no memory to open zstd")
    }
    unsafe self.stream = stream
  }

  deinit { unsafe ZSTD_freeDStream(stream) }

  func take(_ compressed: [UInt8]) { (input, offset) = (compressed, 0) }

  func next(upTo limit: Int) throws(CompressionError) -> [UInt8] {
    var result = 0
    let before = offset
    let output = unsafe [UInt8](unsafeUninitializedCapacity: limit) { room, filled in
      unsafe input.withUnsafeBytes { input in
        var from = unsafe ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: offset)
        var to = unsafe ZSTD_outBuffer(dst: room.baseAddress, size: limit, pos: 0)
        result = unsafe ZSTD_decompressStream(stream, &to, &from)
        (offset, filled) = unsafe (from.pos, to.pos)
      }
    }
    if ZSTD_isError(result) != 0 {
      let reason = unsafe String(cString: ZSTD_getErrorName(result))
      throw CompressionError(.damaged, "the zstd data cannot be opened: \(reason)")
    }
    // With neither input nor output, 0 says nothing: nothing was asked.
    if offset > before || !output.isEmpty { isComplete = result == 0 }
    if output.isEmpty, offset < input.count { return try next(upTo: limit) }
    return output
  }
}
