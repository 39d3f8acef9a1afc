/// Lengths, encodings and chunks.
extension AmbiguousRequest {
  static let lengths: [AmbiguousRequest] = [
    .field("a length", "Content-Length: 5", body: "12345", .request(path: "/", body: "12345")),
    .field("a length in other letters", "cOnTeNt-LeNgTh: 5", body: "12345", .request(path: "/", body: "12345")),
    .field("a length with blanks around", "Content-Length: \t5 \t", body: "12345", .request(path: "/", body: "12345")),
    .field("a length of 0", "Content-Length: 0", body: "GET", .request(path: "/", rest: "GET")),
    .field(
      "a body longer than its length", "Content-Length: 3", body: "12345", .request(path: "/", body: "123", rest: "45")),
    .field("a body that has not arrived", "Content-Length: 6", body: "12345", .unfinished),
    .field("no length", "X-A: b", body: "12345", .request(path: "/", rest: "12345")),
    .field("an underscore for a hyphen", "Content_Length: 5", body: "12345", .request(path: "/", rest: "12345")),
    .field("two lengths", "Content-Length: 5\r\nContent-Length: 6", body: "12345", .repeatedContentLength),
    .field("an equal length twice", "Content-Length: 5\r\nContent-Length: 5", body: "12345", .repeatedContentLength),
    .field("lengths apart", "Content-Length: 5\r\nX-A: b\r\ncontent-length: 0", body: "12345", .repeatedContentLength),
    .field("a list of equal lengths", "Content-Length: 5, 5", body: "12345", .contentLength),
    .field("a list of lengths", "Content-Length: 5,6", body: "12345", .contentLength),
    .field("a list with an empty item", "Content-Length: 5,", body: "12345", .contentLength),
    .field("an empty length", "Content-Length:", .contentLength),
    .field("a length with a plus", "Content-Length: +5", body: "12345", .contentLength),
    .field("a length with a minus", "Content-Length: -5", body: "12345", .contentLength),
    .field("minus nothing", "Content-Length: -0", .contentLength),
    .field("a hexadecimal length", "Content-Length: 0x5", body: "12345", .contentLength),
    .field("letters", "Content-Length: five", body: "12345", .contentLength),
    .field("a decimal point", "Content-Length: 5.0", body: "12345", .contentLength),
    .field("an exponent", "Content-Length: 5e0", body: "12345", .contentLength),
    .field("a digit group", "Content-Length: 1_0", body: "1234567890", .contentLength),
    .field("a space within", "Content-Length: 1 0", body: "1234567890", .contentLength),
    .field("a quoted length", "Content-Length: \"5\"", body: "12345", .contentLength),
    .field("a digit of another script", "Content-Length: \u{D9}\u{A5}", body: "12345", .contentLength),
    .field("a leading zero", "Content-Length: 05", body: "12345", .contentLength),
    .field("two zeros", "Content-Length: 00", .contentLength),
    .field("zeros to overflow", "Content-Length: 00000000000000000000000000000005", body: "12345", .contentLength),
    .field("2 to the 63rd", "Content-Length: 9223372036854775808", .contentLength),
    .field("2 to the 64th and 5", "Content-Length: 18446744073709551621", body: "12345", .contentLength),
    .field("a length by a semicolon", "Content-Length: 5;x", body: "12345", .contentLength),
    AmbiguousRequest(
      "a length for GET", "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi", .request(path: "/", body: "hi")),
  ]

  static let encodings: [AmbiguousRequest] = [
    .field("chunked", "Transfer-Encoding: chunked", body: "2\r\nhi\r\n0\r\n\r\n", .request(path: "/", body: "hi")),
    .field("in capital letters", "TRANSFER-ENCODING: Chunked", body: "0\r\n\r\n", .request(path: "/")),
    .field(
      "both, the length first", "Content-Length: 5\r\nTransfer-Encoding: chunked", body: "0\r\n\r\n", .lengthAndEncoding
    ),
    .field(
      "both, the encoding first", "Transfer-Encoding: chunked\r\nContent-Length: 5", body: "0\r\n\r\n",
      .lengthAndEncoding),
    .field(
      "a length and an unknown encoding", "Content-Length: 5\r\nTransfer-Encoding: x", body: "12345", .lengthAndEncoding
    ),
    .field(
      "a length of 0 and an encoding", "Content-Length: 0\r\nTransfer-Encoding: chunked", body: "0\r\n\r\n",
      .lengthAndEncoding),
    .field("chunked twice", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", .repeatedTransferEncoding),
    .field("two encodings", "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked", .repeatedTransferEncoding),
    .field("chunked, chunked", "Transfer-Encoding: chunked, chunked", .transferEncoding),
    .field("gzip", "Transfer-Encoding: gzip", .transferEncoding),
    .field("gzip, chunked", "Transfer-Encoding: gzip, chunked", .transferEncoding),
    .field("chunked, gzip", "Transfer-Encoding: chunked, gzip", .transferEncoding),
    .field("chunked, identity", "Transfer-Encoding: chunked, identity", .transferEncoding),
    .field("identity", "Transfer-Encoding: identity", .transferEncoding),
    .field("an empty encoding", "Transfer-Encoding:", .transferEncoding),
    .field("an empty item after", "Transfer-Encoding: chunked,", .transferEncoding),
    .field("an empty item before", "Transfer-Encoding: ,chunked", .transferEncoding),
    .field("a parameter", "Transfer-Encoding: chunked;q=1", .transferEncoding),
    .field("quoted", "Transfer-Encoding: \"chunked\"", .transferEncoding),
    .field("xchunked", "Transfer-Encoding: xchunked", .transferEncoding),
    .field("chunked x", "Transfer-Encoding: chunked x", .transferEncoding),
    .field("a letter that lowers to ASCII", "Transfer-Encoding: chun\u{E2}\u{84}\u{AA}ed", .transferEncoding),
    .field("an underscore for a hyphen", "Transfer_Encoding: chunked", body: "0", .request(path: "/", rest: "0")),
    AmbiguousRequest(
      "chunked in HTTP/1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", .transferEncoding),
  ]

  static let chunkedBodies: [AmbiguousRequest] = [
    .chunks(
      "capital and small digits", "A\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n",
      .request(path: "/", body: "01234567890123456789")),
    .chunks("padded sizes", "0002\r\nhi\r\n000\r\n\r\n", .request(path: "/", body: "hi")),
    .chunks("an extension", "2;a=b\r\nhi\r\n0;c=\"d\"\r\n\r\n", .request(path: "/", body: "hi")),
    .chunks("a trailer", "2\r\nhi\r\n0\r\nX-A: b\r\n\r\nGET", .request(path: "/", body: "hi", rest: "GET")),
    .chunks(
      "a length in the trailer, which is dropped", "0\r\nContent-Length: 5\r\n\r\nGET", .request(path: "/", rest: "GET")
    ),
    .chunks("a chunk that has not arrived", "5\r\nhi", .unfinished),
    .chunks("an end that has not arrived", "0\r\n", .unfinished),
    .chunks("no size", "\r\nhi\r\n0\r\n\r\n", .chunkSize),
    .chunks("an extension without a size", ";a\r\nhi\r\n", .chunkSize),
    .chunks("a size with a plus", "+2\r\nhi\r\n0\r\n\r\n", .chunkSize),
    .chunks("a size with a minus", "-2\r\nhi\r\n0\r\n\r\n", .chunkSize),
    .chunks("a size by 0x", "0x2\r\nhi\r\n0\r\n\r\n", .chunkSize),
    .chunks("a digit group", "1_0\r\n0123456789012345\r\n0\r\n\r\n", .chunkSize),
    .chunks("a size that is a word", "zz\r\n", .chunkSize),
    .chunks("a space before the size", " 2\r\nhi\r\n0\r\n\r\n", .chunkSize),
    .chunks("a space after the size", "2 \r\nhi\r\n0\r\n\r\n", .chunkSize),
    .chunks("a tab after the size", "2\t\r\nhi\r\n0\r\n\r\n", .chunkSize),
    .chunks("a space before an extension", "2 ;a\r\nhi\r\n0\r\n\r\n", .chunkSize),
    .chunks("nine digits", "000000002\r\nhi\r\n0\r\n\r\n", .chunkSize),
    .chunks("2 to the 64th and 2", "10000000000000002\r\nhi\r\n0\r\n\r\n", .chunkSize),
    .chunks("an empty extension", "2;\r\nhi\r\n0\r\n\r\n", .chunkExtension),
    .chunks("an extension beyond ASCII", "2;\u{E9}\r\nhi\r\n0\r\n\r\n", .chunkExtension),
    .chunks("a bare LF in an extension", "2;a\nhi\r\n0\r\n\r\n", .bareLineFeed),
    .chunks("a bare CR in an extension", "2;a\rb\r\nhi\r\n0\r\n\r\n", .bareCarriageReturn),
    .chunks("a NUL in an extension", "2;\u{0}\r\nhi\r\n0\r\n\r\n", .controlByte),
    .chunks("a bare LF in a quoted extension", "2;a=\"\n\"\r\nhi\r\n0\r\n\r\n", .bareLineFeed),
    .chunks("a bare LF after the size", "2\nhi\r\n0\r\n\r\n", .bareLineFeed),
    .chunks("a bare CR after the size", "2\rhi\r\n0\r\n\r\n", .bareCarriageReturn),
    .chunks("a NUL after the size", "2\u{0}\r\nhi\r\n0\r\n\r\n", .controlByte),
    .chunks("more than the size", "2\r\nhi!\r\n0\r\n\r\n", .chunkEnd),
    .chunks("less than the size", "3\r\nhi\r\n0\r\n\r\n", .chunkEnd),
    .chunks("a bare LF after a chunk", "2\r\nhi\n0\r\n\r\n", .chunkEnd),
    .chunks("a bare CR after a chunk", "2\r\nhi\r0\r\n\r\n", .chunkEnd),
    .chunks("nothing after a chunk", "2\r\nhi0\r\n\r\n", .chunkEnd),
    .chunks("a bare LF at the end", "0\r\n\n", .bareLineFeed),
    .chunks("another request for a trailer", "0\r\nGET / HTTP/1.1\r\n\r\n", .fieldName),
    .chunks("a folded trailer", "0\r\nX-A: b\r\n c\r\n\r\n", .foldedField),
    .chunks("a space before a trailer's colon", "0\r\nX-A : b\r\n\r\n", .spaceBeforeColon),
  ]

  static let all = requestLines + targets + fields + hosts + lengths + encodings + chunkedBodies
}
