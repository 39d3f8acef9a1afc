@testable import HTTPServer

@Suite struct `The head of an answer` {
  private static let date = "Thu, 01 Jan 1970 00:00:00 GMT"

  private func head(_ response: HTTPResponse, closing: Bool = false) -> String? {
    ResponseHead.bytes(of: response, closing: closing, date: Self.date).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test func `is the handler's headers between those of the server`() {
    let response = HTTPResponse(
      status: 200, headers: ["X-A": "b\tc", "content-length": "9", "Connection": "upgrade"], body: [1, 2])
    let start = "HTTP/1.1 200 OK\r\nDate: \(Self.date)\r\nX-A: b\tc\r\nContent-Length: 2\r\n"
    #expect(head(response) == start + "\r\n")
    #expect(head(response, closing: true) == start + "Connection: close\r\n\r\n")
  }

  @Test(arguments: [
    HTTPResponse(status: 99), HTTPResponse(status: 100), HTTPResponse(status: 600), HTTPResponse(status: -1),
    HTTPResponse(status: 200, headers: ["X-Bad": "a\r\nSet-Cookie: stolen"]),
    HTTPResponse(status: 200, headers: ["X-Bad": "a\nb"]), HTTPResponse(status: 200, headers: ["X-Bad": "a\rb"]),
    HTTPResponse(status: 200, headers: ["X-Bad": "a\0b"]), HTTPResponse(status: 200, headers: ["Bad Name": "x"]),
    HTTPResponse(status: 200, headers: ["Bad:": "x"]), HTTPResponse(status: 200, headers: ["": "x"]),
  ])
  func `is not written when HTTP cannot say it`(response: HTTPResponse) {
    #expect(head(response) == nil)
  }

  @Test func `has the date of the handler if it gives one`() {
    let text = head(HTTPResponse(status: 200, headers: ["date": "none"]))
    #expect(text?.hasPrefix("HTTP/1.1 200 OK\r\ndate: none\r\n") == true)
    #expect(text?.contains(Self.date) == false)
  }

  @Test(arguments: [
    (200, "GET", true, true), (200, "HEAD", true, false), (204, "GET", false, false), (304, "GET", false, false),
    (404, "HEAD", true, false),
  ])
  func `has a length unless there is no body by rule`(status: Int, method: String, hasLength: Bool, hasBody: Bool) {
    let response = HTTPResponse(status: status, body: [1])
    #expect(head(response)?.contains("Content-Length: 1\r\n") == hasLength)
    #expect(ResponseHead.hasBody(response, isHead: method == "HEAD") == hasBody)
  }

  @Test(arguments: [
    (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777_000, "Sun, 06 Nov 1994 08:49:37 GMT"),
    (1_709_251_199_999, "Thu, 29 Feb 2024 23:59:59 GMT"), (4_102_444_800_000, "Fri, 01 Jan 2100 00:00:00 GMT"),
  ])
  func `has its date as HTTP writes it`(moment: Int64, text: String) {
    #expect(DateHeader.text(of: Timestamp(moment)) == text)
  }
}
