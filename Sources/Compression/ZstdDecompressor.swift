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
    let output = unsafe [UInt8](unsafeUninitializedCapacity: limit) { room, filled in
      // A loop, because frames may be empty or skippable and any number of them may follow each other; each costs its
      // own bytes.
      repeat {
        let before = offset
        unsafe (result, filled) = decompress(into: room)
        // With neither input nor output, 0 says nothing about the frame.
        if offset > before || filled > 0 { isComplete = result == 0 }
      } while filled == 0 && offset < input.count && ZSTD_isError(result) == 0
    }
    if ZSTD_isError(result) != 0 {
      let reason = unsafe String(cString: ZSTD_getErrorName(result))
      throw CompressionError(.damaged, "the zstd data cannot be opened: \(reason)")
    }
    return output
  }

  private func decompress(into room: UnsafeMutableBufferPointer<UInt8>) -> (result: Int, filled: Int) {
    unsafe input.withUnsafeBytes { input in
      var from = unsafe ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: offset)
      var to = unsafe ZSTD_outBuffer(dst: room.baseAddress, size: room.count, pos: 0)
      let result = unsafe ZSTD_decompressStream(stream, &to, &from)
      offset = unsafe from.pos
      return unsafe (result, to.pos)
    }
  }
}
