/// What fuzzing of requests begins with: one of each form, and the near misses of each.
enum HeadSeeds {
  private static let requests = [
    "GET / HTTP/1.1\r\nHost: example.com:443\r\n\r\n",
    "\r\nGET /a%20b//c?d=%41&e HTTP/1.1\r\nHost:[::1]\t \r\nConnection: keep-alive, close\r\n\r\n",
    "OPTIONS * HTTP/1.1\r\nHost: x\r\nX-Empty:\r\n\r\n",
    "GET http://x/a HTTP/1.1\r\nhost: X\r\n\r\n",
    "GET / HTTP/1.0\r\n\r\nGET / HTTP/1.0\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\nhello",
    "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5;a=\"b\"\r\nhello\r\n0\r\nX-A: b\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
    "POST / HTTP/1.1\r\nHost : x\r\nHost: y\r\n folded\r\nContent-Length: +5, 5\r\n\r\n",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "GET / HTTP/1.1\nHost: x\r\r\n\u{0}\n\n",
  ]

  static var all: [[UInt8]] { requests.enumerated().map { [UInt8($0)] + Array($1.utf8) } }
}
