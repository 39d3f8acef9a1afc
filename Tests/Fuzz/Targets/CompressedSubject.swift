import Compression

/// Compressed streams of any bytes: nothing stops the process, nothing gives more than it was asked for, and the way a
/// stream is divided does not matter.
///
/// The first byte says how many bytes arrive at once, the second how many are asked for.
enum CompressedSubject {
  static func check(_ input: [UInt8]) {
    guard input.count > 2 else { return }
    let stream = input[2...]
    let whole = StreamRead(stream, inPartsOf: stream.count, upTo: 1 << 16)
    let divided = StreamRead(stream, inPartsOf: 1 + Int(input[0]), upTo: 1 + Int(input[1]))
    let common = min(whole.output.count, divided.output.count)
    guard whole.output.prefix(common) == divided.output.prefix(common) else {
      preconditionFailure("the division changes the bytes")
    }
    // A damaged stream may give less or more before the damage is met, and a long one is read to its limit only.
    guard !whole.isCut, !divided.isCut else { return }
    guard !whole.isDamaged, !divided.isDamaged else {
      // libzstd opens a frame that arrives whole in another way, which compares the frame's own length at another time.
      let isGzip = CompressionFormat(beginning: stream) == .gzip
      if isGzip, whole.isDamaged != divided.isDamaged { preconditionFailure("damaged in one division alone") }
      return
    }
    guard whole.output.count == divided.output.count, whole.isComplete == divided.isComplete else {
      preconditionFailure("the division changes the end")
    }
  }
}
