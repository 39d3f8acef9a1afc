import Compression

/// What the decompressor makes of a stream that arrives in parts.
struct StreamRead {
  /// At most a little over `limit`.
  private(set) var output: [UInt8] = []
  private(set) var isComplete = false
  private(set) var isDamaged = false
  /// Not read to its end, because so much came out.
  private(set) var isCut = false

  private static let limit = 1 << 20

  init(_ stream: ArraySlice<UInt8>, inPartsOf part: Int, upTo room: Int) {
    do throws(CompressionError) {
      guard let decompressor = try CompressionFormat(beginning: stream).decompressor() else { return }
      var rest = stream
      while !rest.isEmpty {
        decompressor.take(Array(rest.prefix(part)))
        rest = rest.dropFirst(part)
        try drain(decompressor, upTo: room)
        if isCut { return }
      }
      isComplete = decompressor.isComplete
    } catch {
      isDamaged = true
    }
  }

  private mutating func drain(_ decompressor: any Decompressor, upTo room: Int) throws(CompressionError) {
    while true {
      let bytes = try decompressor.next(upTo: room)
      guard bytes.count <= room else { preconditionFailure("gave more than it was asked for") }
      if bytes.isEmpty { return }
      output += bytes
      if output.count > Self.limit {
        isCut = true
        return
      }
    }
  }
}
