@testable import HTTPClient
@testable import HTTPServer

@Suite struct `A request's target` {
  @Test(arguments: [
    ("/", "/"), ("/a/b", "/a/b"), ("/a/b/", "/a/b/"), ("//a//b", "/a/b"), ("/a?x=/../b", "/a"), ("*", "*"),
    ("/%61%20b", "/a b"), ("/%C3%A9", "/é"), ("/.well-known/x", "/.well-known/x"), ("/a.b/c", "/a.b/c"),
    ("http://host/a?b", "/a"), ("https://host", "/"), ("/...", "/..."), ("//", "/"),
  ])
  func `names one path`(raw: String, path: String) {
    #expect(RequestTarget(raw)?.path == path)
  }

  @Test(arguments: [
    "", "a", "/..", "/.", "/a/../b", "/%2e%2e/", "/.%2e", "/a%2fb", "/a%5Cb", "/a\\b", "/%00", "/%0d", "/%7f", "/%",
    "/%1", "/%gg", "/%ff", "/a b", "/é", "/\t", "ftp://host/a",
  ])
  func `is refused when a proxy might read it differently`(raw: String) {
    #expect(RequestTarget(raw) == nil)
  }

  @Test(arguments: [
    ("/", []), ("/?", []), ("/?a", ["a="]), ("/?a=1&b=2&a=3", ["a=1", "b=2", "a=3"]), ("/?&&a=b=c", ["a=b=c"]),
    ("/?a+b=%31%zz%4", ["a b=1%zz%4"]), ("/?a=%26", ["a=&"]),
  ])
  func `has a query of pairs`(raw: String, pairs: [String]) {
    #expect(RequestTarget.query(of: raw).map { "\($0.name)=\($0.value)" } == pairs)
  }
}

@Suite struct `Base64 of a certificate` {
  @Test(arguments: [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")])
  func `is RFC 4648's`(text: String, encoded: String) {
    let pem = String(decoding: PeerRoots.pem(Array(text.utf8)), as: UTF8.self)
    let middle = encoded.isEmpty ? "" : encoded + "\n"
    #expect(pem == "-----BEGIN CERTIFICATE-----\n\(middle)-----END CERTIFICATE-----\n")
  }
}
