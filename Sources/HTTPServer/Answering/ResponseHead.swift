enum ResponseHead {
  /// Returns the head of `response`, or `nil` if HTTP cannot express it: a status outside 200 to 599, an invalid name,
  /// or a value with a control byte, which could end the head early.
  ///
  /// The server sets length, connection and encoding, and ignores the handler's. The date is the handler's if set,
  /// because a simulated server may have another time.
  /// Reserves capacity for the bytes that the caller will append.
  ///
  /// - Parameter closing: whether the connection ends with the response.
  static func bytes(of response: HTTPResponse, closing: Bool, date: String, room: Int = 0) -> [UInt8]? {
    guard (200...599).contains(response.status) else { return nil }
    let headers = response.headers
    var bytes: [UInt8] = []
    bytes.reserveCapacity(160 + headers.packed.count + room)
    // Piece by piece: interpolated strings are several times slower.
    bytes += "HTTP/1.1 ".utf8
    bytes.append(decimal: response.status)
    bytes.append(0x20)
    bytes += ReasonPhrase.of(response.status).utf8
    if !headers.contains("Date") {
      bytes += "\r\nDate: ".utf8
      bytes += date.utf8
    }
    bytes += "\r\n".utf8
    for field in headers.layout {
      guard isSayable(headers.packed.span.extracting(field.name), headers.packed.span.extracting(field.value)) else {
        return nil
      }
      guard !isOurs(headers.packed[field.name]) else { continue }
      bytes += headers.packed[field.name]
      bytes += ": ".utf8
      bytes += headers.packed[field.value]
      bytes += "\r\n".utf8
    }
    // 204 and 304 have no body and, 204, no length either (RFC 9110, 8.6).
    if response.status != 204, response.status != 304 {
      bytes += "Content-Length: ".utf8
      bytes.append(decimal: response.body.count)
      bytes += "\r\n".utf8
    }
    bytes += (closing ? "Connection: close\r\n\r\n" : "\r\n").utf8
    return bytes
  }

  private static func isSayable(_ name: Span<UInt8>, _ value: Span<UInt8>) -> Bool {
    !name.isEmpty && name.holdsOnly(\.isTokenCharacter)
      && value.holdsOnly { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
  }

  static func hasBody(_ response: HTTPResponse, isHead: Bool) -> Bool {
    !isHead && response.status != 204 && response.status != 304
  }

  private static func isOurs(_ name: ArraySlice<UInt8>) -> Bool {
    let ours: StaticString
    switch name.count {
    case 10: ours = "connection"
    case 14: ours = "content-length"
    case 17: ours = "transfer-encoding"
    case _: return false
    }
    return ours.withUTF8Buffer { ours in
      unsafe name.elementsEqual(ours) { ($0.isCapital ? $0 | 0x20 : $0) == $1 }
    }
  }
}

extension [UInt8] {
  fileprivate mutating func append(decimal number: Int) {
    if number >= 10 { append(decimal: number / 10) }
    append(UInt8(ascii: "0") + UInt8(number % 10))
  }
}

enum ReasonPhrase {
  static func of(_ status: Int) -> String {
    switch status {
    case 200: "OK"
    case 201: "Created"
    case 202: "Accepted"
    case 204: "No Content"
    case 206: "Partial Content"
    case 301: "Moved Permanently"
    case 302: "Found"
    case 303: "See Other"
    case 304: "Not Modified"
    case 307: "Temporary Redirect"
    case 308: "Permanent Redirect"
    case 400: "Bad Request"
    case 401: "Unauthorized"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 406: "Not Acceptable"
    case 408: "Request Timeout"
    case 409: "Conflict"
    case 410: "Gone"
    case 411: "Length Required"
    case 413: "Content Too Large"
    case 414: "URI Too Long"
    case 415: "Unsupported Media Type"
    case 421: "Misdirected Request"
    case 422: "Unprocessable Content"
    case 429: "Too Many Requests"
    case 431: "Request Header Fields Too Large"
    case 500: "Internal Server Error"
    case 501: "Not Implemented"
    case 502: "Bad Gateway"
    case 503: "Service Unavailable"
    case 504: "Gateway Timeout"
    case 505: "HTTP Version Not Supported"
    case _: "Unknown"
    }
  }
}
