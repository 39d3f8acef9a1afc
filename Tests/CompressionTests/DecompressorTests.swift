import Compression
import Support
import Testing

@Suite struct `A compressed stream` {
  static let text = Array(String(repeating: "com.example.a,user-1,MIIT…\n", count: 400).utf8)

  @Test(
    arguments: [
      ([], .none), ([0x1F], .none), ([0x1F, 0x8B, 8, 0], .gzip), ([0x28, 0xB5, 0x2F, 0xFD], .zstd),
      (Array("app,user_id,receipt".utf8), .none), ([0x30, 0x82, 0x1F, 0x8B], .none),
    ] as [([UInt8], CompressionFormat)])
  func `is told by how it begins`(bytes: [UInt8], format: CompressionFormat) {
    #expect(CompressionFormat(beginning: bytes[...]) == format)
  }

  /// Formats, and in what pieces they come and go.
  static let pieces: [(CompressionFormat, Int, Int)] = [
    (.gzip, 1, 1), (.gzip, 7, 100_000), (.gzip, 100_000, 13), (.zstd, 1, 1), (.zstd, 7, 100_000),
    (.zstd, 100_000, 13),
  ]

  @Test(arguments: pieces)
  func `opens to what went in, in whatever pieces it comes`(format: CompressionFormat, piece: Int, limit: Int) throws {
    let whole = Pack.packed(Self.text, format)
    #expect(try Pack.opened(whole, format, piece: piece, limit: limit) == Self.text)
    let twice = try Pack.opened(whole + whole, format, piece: piece, limit: limit)
    #expect(twice == Self.text + Self.text, "two in a row are one")
  }

  @Test(arguments: [CompressionFormat.gzip, .zstd])
  func `is refused when it is damaged and never ends when it is cut`(format: CompressionFormat) throws {
    var whole = Pack.packed(Self.text, format)
    let opener = try #require(try format.decompressor())
    opener.take(Array(whole.dropLast(3)))
    while try !opener.next(upTo: 1_000).isEmpty {}
    #expect(!opener.isComplete)
    for index in whole.indices.dropFirst(4) { whole[index] ^= 0xFF }
    #expect(throws: CompressionError.self) {
      let opener = try #require(try format.decompressor())
      opener.take(whole)
      while try !opener.next(upTo: 1_000).isEmpty {}
    }
  }

  /// Parts of a stream that open to nothing: empty files that were packed, and what a packer writes for itself.
  static let empty: [(name: String, format: CompressionFormat, part: [UInt8])] = [
    ("gzip members", .gzip, Pack.packed([], .gzip)), ("zstd frames", .zstd, Pack.packed([], .zstd)),
    ("skippable zstd frames", .zstd, [0x5F, 0x2A, 0x4D, 0x18, 0, 0, 0, 0]),
    ("skippable zstd frames with content", .zstd, [0x50, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 1, 2, 3]),
  ]

  /// As many as would overflow a stack if each were opened within the one before it.
  @Test(arguments: empty, [1 << 20, 1_000])
  func `may hold any number of parts that open to nothing`(
    empty: (name: String, format: CompressionFormat, part: [UInt8]), piece: Int
  ) throws {
    var parts: [UInt8] = []
    for _ in 0..<100_000 { parts += empty.part }
    let whole = parts + Pack.packed(Self.text, empty.format) + parts
    #expect(CompressionFormat(beginning: whole[...]) == empty.format)
    #expect(try Pack.opened(whole, empty.format, piece: piece, limit: 1_000) == Self.text)
  }

  @Test func `may be filled up with zeros after gzip`() throws {
    let padded = Pack.packed(Self.text, .gzip) + [UInt8](repeating: 0, count: 512)
    #expect(try Pack.opened(padded, .gzip, piece: 100, limit: 1_000) == Self.text)
  }
}
