import CMicroHTTPD

/// Copies a request's header fields out of the library's memory.
enum RequestHeaders {
  static func read(from connection: OpaquePointer, size: Int) -> HTTPHeaders {
    var headers = HTTPHeaders()
    headers.reserve(bytes: size, fields: 16)
    unsafe withUnsafeMutablePointer(to: &headers) { headers in
      _ = unsafe MHD_get_connection_values_n(connection, .HEADER_KIND, append, headers)
    }
    return headers
  }

  private static let append: MHD_KeyValueIteratorN = { context, _, key, keySize, value, valueSize in
    guard let headers = unsafe context?.assumingMemoryBound(to: HTTPHeaders.self) else { return .NO }
    unsafe headers.pointee.append(name: bytes(key, keySize), value: bytes(value, valueSize))
    return .YES
  }

  private static func bytes(_ start: UnsafePointer<CChar>?, _ count: Int) -> UnsafeBufferPointer<UInt8> {
    unsafe UnsafeBufferPointer(
      start: UnsafeRawPointer(start)?.assumingMemoryBound(to: UInt8.self), count: start == nil ? 0 : count)
  }
}
