import Glibc
import Synchronization

/// A header segment of a valid signature, with its parsed values.
final class KnownHeader: Sendable {
  private let segment: [UInt8]
  let header: JOSEHeader
  /// The SHA-256 of the segment and the dot after it, to be continued with the payload.
  let prefix: SHA256Prefix

  /// Creates a header; `bytes` begin with its segment and dot.
  init(_ header: JOSEHeader, segment: Range<Int>, of bytes: [UInt8]) {
    self.header = header
    self.segment = Array(bytes[segment])
    prefix = SHA256Prefix(absorbing: bytes[...segment.upperBound])
  }

  fileprivate func matches(_ bytes: [UInt8], _ range: Range<Int>) -> Bool {
    guard segment.count == range.count else { return false }
    return unsafe bytes.withUnsafeBytes { bytes in
      unsafe segment.withUnsafeBytes { segment in
        guard let a = bytes.baseAddress, let b = segment.baseAddress else { return false }
        return unsafe memcmp(a + range.lowerBound, b, range.count) == 0
      }
    }
  }
}

/// A cache of headers with valid signatures by their exact bytes, to skip base64, JSON, certificates and hash.
///
/// Strangers cannot fill it, because only a header under a valid signature enters. Bounded; the least recently used is
/// removed first.
final class HeaderCache: Sendable {
  private let capacity: Int
  private let known = Mutex<[KnownHeader]>([])

  init(capacity: Int) { self.capacity = capacity }

  var count: Int { known.withLock { $0.count } }

  func header(_ segment: Range<Int>, of bytes: [UInt8]) -> KnownHeader? {
    known.withLock { known in
      guard let index = known.lastIndex(where: { $0.matches(bytes, segment) }) else { return nil }
      if index != known.count - 1 { known.append(known.remove(at: index)) }
      return known.last
    }
  }

  func insert(_ header: KnownHeader, segment: Range<Int>, of bytes: [UInt8]) {
    known.withLock { known in
      guard !known.contains(where: { $0.matches(bytes, segment) }) else { return }
      if known.count >= capacity { known.removeFirst() }
      known.append(header)
    }
  }
}
