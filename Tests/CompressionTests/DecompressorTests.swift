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

  @Test func `may be filled up with zeros after gzip`() throws {
    let padded = Pack.packed(Self.text, .gzip) + [UInt8](repeating: 0, count: 512)
    #expect(try Pack.opened(padded, .gzip, piece: 100, limit: 1_000) == Self.text)
  }
}
