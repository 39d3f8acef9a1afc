import CMicroHTTPD

/// A body that breaks off before its announced end.
final class BrokenBody: Sendable {
  private let bytes: [UInt8]
  private let end: Int

  private init(_ bytes: [UInt8], end: Int) {
    self.bytes = bytes
    self.end = end
  }

  /// The library's response; nil when there is no memory for it.
  static func response(_ body: [UInt8], cutAfter count: Int) -> OpaquePointer? {
    let broken = BrokenBody(body, end: max(0, min(count, body.count)))
    let context = unsafe Unmanaged.passRetained(broken).toOpaque()
    let reply = unsafe MHD_create_response_from_callback(UInt64(body.count), 4_096, read, context, release)
    if unsafe reply == nil { unsafe release(context) }
    return unsafe reply
  }

  private static let read: MHD_ContentReaderCallback = { context, position, buffer, room in
    guard let context = unsafe context, let buffer = unsafe buffer else { return endWithError }
    let broken = unsafe Unmanaged<BrokenBody>.fromOpaque(context).takeUnretainedValue()
    let start = Int(position)
    let count = min(room, broken.end - start)
    guard count > 0 else { return endWithError }
    for index in 0..<count { unsafe buffer[index] = CChar(bitPattern: broken.bytes[start + index]) }
    return count
  }

  private static let release: MHD_ContentReaderFreeCallback = { context in
    if let context = unsafe context { unsafe Unmanaged<BrokenBody>.fromOpaque(context).release() }
  }

  /// MHD_CONTENT_READER_END_WITH_ERROR, a macro that Swift does not see.
  private static let endWithError = -2
}

extension HTTPResponse {
  /// Whether not a byte of it is sent.
  var isSilent: Bool {
    switch ending {
    case .complete: false
    case .cut(let count): count <= 0
    case .silent: true
    }
  }
}
