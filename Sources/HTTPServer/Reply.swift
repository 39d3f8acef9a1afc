import CMicroHTTPD

/// Hands an answer to the library.
enum Reply {
  /// False when the answer cannot be said in HTTP, or the connection takes none any more.
  static func queue(_ response: HTTPResponse, closing: Bool, on connection: OpaquePointer) -> Bool {
    guard (200...599).contains(response.status) else { return false }
    let reply: OpaquePointer?
    switch response.ending {
    case .cut(let count): unsafe reply = BrokenBody.response(response.body, cutAfter: count)
    case .complete, .silent:
      unsafe reply = response.body.withUnsafeBytes { body in
        unsafe MHD_create_response_from_buffer(
          body.count, UnsafeMutableRawPointer(mutating: body.baseAddress), .RESPMEM_MUST_COPY)
      }
    }
    guard let reply = unsafe reply else { return false }
    defer { unsafe MHD_destroy_response(reply) }
    guard unsafe add(response.headers, to: reply) else { return false }
    if closing, unsafe MHD_add_response_header(reply, "Connection", "close") == .NO { return false }
    return unsafe MHD_queue_response(connection, UInt32(response.status), reply) == .YES
  }

  private static func add(_ headers: HTTPHeaders, to reply: OpaquePointer) -> Bool {
    unsafe headers.packed.withUnsafeBytes { packed in
      guard let start = unsafe packed.baseAddress?.assumingMemoryBound(to: CChar.self) else { return true }
      return headers.layout.allSatisfy { field in
        unsafe MHD_add_response_header(reply, start + field.name.lowerBound, start + field.value.lowerBound) == .YES
      }
    }
  }
}
