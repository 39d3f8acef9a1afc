/// How long a request's body says it is.
///
/// A message whose length can be read in two ways is how requests are smuggled past a proxy (RFC 9112, 6.1 and 6.3):
/// both headers, two lengths, or a coding other than `chunked` make none.
enum BodyFraming {
  case length(Int)
  case chunked

  init?(_ headers: HTTPHeaders) {
    let lengths = headers.occurrences(of: "Content-Length")
    switch headers.occurrences(of: "Transfer-Encoding") {
    case 0:
      guard lengths > 0 else {
        self = .length(0)
        return
      }
      guard lengths == 1, let text = headers["Content-Length"], text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
        let length = Int(text)
      else { return nil }
      self = .length(length)
    case 1:
      guard lengths == 0, headers.equals("Transfer-Encoding", "chunked") else { return nil }
      self = .chunked
    case _: return nil
    }
  }
}
