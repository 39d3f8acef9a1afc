/// The status line and the header fields of an answer, as bytes.
enum ResponseHead {
  /// Returns the head of `response`, or nil if it cannot be said in HTTP: a status outside 200 to 599, a name that is no
  /// token, or a value with a control byte, which could end the head early.
  ///
  /// Length, connection and encoding are the server's to say; what the handler says of them is left out. The date is the
  /// handler's if it gives one: a simulated server may live at another time.
  /// - Parameter closing: whether the connection ends with the answer.
  static func bytes(of response: HTTPResponse, closing: Bool, date: String) -> [UInt8]? {
    guard (200...599).contains(response.status) else { return nil }
    let headers = response.headers
    var bytes: [UInt8] = []
    bytes.reserveCapacity(160 + headers.packed.count)
    bytes += "HTTP/1.1 \(response.status) \(ReasonPhrase.of(response.status))\r\n".utf8
    if !headers.contains("Date") { bytes += "Date: \(date)\r\n".utf8 }
    for field in headers.layout {
      let (name, value) = (headers.packed[field.name], headers.packed[field.value])
      guard !name.isEmpty, name.allSatisfy(\.isTokenCharacter),
        value.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 })
      else { return nil }
      guard !isOurs(name) else { continue }
      bytes += name
      bytes += [UInt8(ascii: ":"), 0x20]
      bytes += value
      bytes += [0x0D, 0x0A]
    }
    // 204 and 304 have no body and, 204, no length either (RFC 9110, 8.6).
    if response.status != 204, response.status != 304 { bytes += "Content-Length: \(response.body.count)\r\n".utf8 }
    if closing { bytes += "Connection: close\r\n".utf8 }
    bytes += [0x0D, 0x0A]
    return bytes
  }

  /// Whether a body follows the head at all.
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

/// The words after a status; programs do not read them, people with a trace do.
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
