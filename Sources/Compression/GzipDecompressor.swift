import CZlib

/// gzip (RFC 1952), several members in a row as one, as `cat a.gz b.gz` makes them.
@safe final class GzipDecompressor: Decompressor {
  private let stream: UnsafeMutablePointer<z_stream>
  private var input: [UInt8] = []
  private var offset = 0
  /// Between members: more of them may follow, none has to.
  private(set) var isComplete = false

  init() throws(CompressionError) {
    unsafe stream = .allocate(capacity: 1)
    unsafe stream.initialize(to: z_stream())
    // `deinit` runs although this throws, since every property is set; zlib ignores a stream that was not opened.
    guard unsafe switchyard_gzip_init(stream) == Z_OK else {
      throw CompressionError(.noMemory, "no memory to open gzip")
    }
  }

  deinit {
    unsafe inflateEnd(stream)
    unsafe stream.deallocate()
  }

  func take(_ compressed: [UInt8]) { (input, offset) = (compressed, 0) }

  func next(upTo limit: Int) throws(CompressionError) -> [UInt8] {
    var status = Z_OK
    let output = unsafe [UInt8](unsafeUninitializedCapacity: limit) { room, filled in
      // A loop, because members may be empty and any number of them may follow each other; each costs its own bytes.
      repeat {
        if isComplete {
          skipPadding()
          guard offset < input.count else { return }
          unsafe inflateReset(stream)
          isComplete = false
        }
        unsafe (status, filled) = inflate(into: room)
        isComplete = status == Z_STREAM_END
      } while filled == 0 && isComplete && offset < input.count
    }
    switch status {
    case Z_OK, Z_BUF_ERROR, Z_STREAM_END: return output
    case Z_MEM_ERROR: throw CompressionError(.noMemory, "no memory to open gzip")
    default: throw CompressionError(.damaged, "the gzip data is damaged")
    }
  }

  /// Tapes and some writers fill up with zeros.
  private func skipPadding() { while offset < input.count, input[offset] == 0 { offset += 1 } }

  private func inflate(into room: UnsafeMutableBufferPointer<UInt8>) -> (status: Int32, filled: Int) {
    unsafe input.withUnsafeMutableBufferPointer { input in
      unsafe stream.pointee.next_in = input.baseAddress.map { unsafe $0 + offset }
      unsafe stream.pointee.avail_in = UInt32(input.count - offset)
      unsafe stream.pointee.next_out = room.baseAddress
      unsafe stream.pointee.avail_out = UInt32(room.count)
      let status = unsafe CZlib.inflate(stream, Z_NO_FLUSH)
      offset = unsafe input.count - Int(stream.pointee.avail_in)
      return unsafe (status, room.count - Int(stream.pointee.avail_out))
    }
  }
}
