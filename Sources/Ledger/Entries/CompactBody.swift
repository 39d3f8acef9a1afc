package import Signing

/// A body with every JWS split into its header's digest, its decoded payload and its signature of 64 bytes.
///
/// An 18 KB notification holds three JWS with the same 3.4 KB certificate header, two of them encoded twice: this form
/// needs about a ninth. Strict base64url has one spelling for each value, so the body is restored byte for byte.
///
/// Layout: pieces with a tag and a length of 4 bytes, big-endian. `0`: literal bytes. `1`: a JWS, which is 32 bytes of
/// the header's digest, 64 of signature, then the payload in pieces.
package struct CompactBody: Hashable, Sendable {
  package var bytes: [UInt8]
  /// The header segments that `bytes` refers to, as base64url text, by digest.
  package private(set) var headers: [Digest: [UInt8]] = [:]

  /// The maximum bytes of a body in the database.
  ///
  /// A column of bodies holds 16 MiB minus one byte, and a statement must fit into `max_allowed_packet`, by default 16
  /// MiB on MariaDB. The longest input is evidence of 8 MiB.
  package static let longest = 15 << 20

  private static let signatureSize = 64
  private static let signatureText = 86
  /// A notification in a body, a transaction in it, and two levels in reserve.
  private static let maximumDepth = 4

  package init(_ body: [UInt8]) {
    bytes = []
    bytes.reserveCapacity(body.count / 3)
    var last = Header(text: [], digest: .sha256([]))
    append(body, depth: 0, &last)
  }

  /// The header of the previous JWS, which most bodies repeat.
  ///
  /// Without it, its search and hash took most of the time.
  private struct Header {
    let text: [UInt8]
    let digest: Digest
  }

  private mutating func append(_ text: [UInt8], depth: Int, _ last: inout Header) {
    var literal = 0
    var scan = 0
    while depth < Self.maximumDepth, let token = JWSToken.next(in: text, from: scan, expecting: last.text) {
      scan = token.end
      guard token.signature.count == Self.signatureText,
        let payload = Base64.url.decode(text, in: token.payload),
        let signature = Base64.url.decode(text, in: token.signature)
      else { continue }
      append(literal: text[literal..<token.header.lowerBound])
      literal = token.end
      if !token.isExpected {
        let header = Array(text[token.header])
        last = Header(text: header, digest: .sha256(header))
        headers[last.digest] = header
      }
      let start = open(tag: 1)
      bytes += last.digest.bytes
      bytes += signature
      append(payload, depth: depth + 1, &last)
      close(start)
    }
    append(literal: text[literal...])
  }

  private mutating func append(literal: ArraySlice<UInt8>) {
    guard !literal.isEmpty else { return }
    let start = open(tag: 0)
    bytes += literal
    close(start)
  }

  private mutating func open(tag: UInt8) -> Int {
    bytes += [tag, 0, 0, 0, 0]
    return bytes.count
  }

  private mutating func close(_ start: Int) {
    let count = UInt32(bytes.count - start)
    for place in 0..<4 { bytes[start - 4 + place] = UInt8(truncatingIfNeeded: count >> (24 - 8 * UInt32(place))) }
  }
}

extension CompactBody {
  /// The reason why stored bytes cannot be expanded: the row is damaged, or a header is missing.
  package enum Damage: Error, Hashable, Sendable {
    case malformed
    case missingHeader(Digest)
  }

  package static func headers(in bytes: [UInt8]) throws(Damage) -> Set<Digest> {
    var found: Set<Digest> = []
    try walk(bytes[...]) { piece throws(Damage) in
      if case .jws(let header, _, let payload) = piece {
        found.insert(header)
        found.formUnion(try headers(in: Array(payload)))
      }
    }
    return found
  }

  package static func expand(_ bytes: [UInt8], headers: [Digest: [UInt8]]) throws(Damage) -> [UInt8] {
    var body: [UInt8] = []
    try walk(bytes[...]) { piece throws(Damage) in
      switch piece {
      case .literal(let literal): body += literal
      case .jws(let header, let signature, let payload):
        guard let text = headers[header] else { throw .missingHeader(header) }
        body += text
        body.append(UInt8(ascii: "."))
        body += Base64.url.encode(try expand(Array(payload), headers: headers))
        body.append(UInt8(ascii: "."))
        body += Base64.url.encode(Array(signature))
      }
    }
    return body
  }

  private enum Piece {
    case literal(ArraySlice<UInt8>)
    case jws(header: Digest, signature: ArraySlice<UInt8>, payload: ArraySlice<UInt8>)
  }

  private static func walk(
    _ bytes: ArraySlice<UInt8>, _ visit: (Piece) throws(Damage) -> Void
  ) throws(Damage) {
    var rest = bytes
    while let tag = rest.popFirst() {
      let count = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
      guard rest.count >= 4 + count else { throw .malformed }
      let content = rest.dropFirst(4).prefix(count)
      rest = rest.dropFirst(4 + count)
      switch tag {
      case 0: try visit(.literal(content))
      case 1:
        guard count >= Digest.count + signatureSize, let header = Digest(bytes: Array(content.prefix(Digest.count)))
        else { throw .malformed }
        let signature = content.dropFirst(Digest.count).prefix(signatureSize)
        try visit(
          .jws(header: header, signature: signature, payload: content.dropFirst(Digest.count + signatureSize)))
      default: throw .malformed
      }
    }
  }
}
