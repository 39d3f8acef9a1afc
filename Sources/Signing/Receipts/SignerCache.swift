import Glibc
import Synchronization

/// A cache of verified signers: a chain costs 100 times the cost of a lookup here.
///
/// Entries are compared byte for byte, so that only the very same certificates match. Only good chains are stored.
/// Bounded; the least recently used is removed first.
final class SignerCache: Sendable {
  /// The kind of receipt for which the signer was verified, and only for it.
  enum Use: Hashable, Sendable {
    case app, version2, version3
  }

  private struct Entry {
    let use: Use
    let certificates: [UInt8]
    let signer: [UInt8]
    let chain: SignerChain
    var lastUse: UInt64
  }

  private struct State {
    var entries: [UInt64: Entry] = [:]
    var uses: UInt64 = 0
  }

  private let capacity: Int
  private let state = Mutex(State())

  init(capacity: Int) { self.capacity = capacity }

  var count: Int { state.withLock { $0.entries.count } }

  func chain(for use: Use, _ certificates: Span<UInt8>, _ signer: Span<UInt8>) -> SignerChain? {
    let key = Self.key(certificates, signer)
    let entry = state.withLock { state -> Entry? in
      state.uses += 1
      state.entries[key]?.lastUse = state.uses
      return state.entries[key]
    }
    guard let entry, entry.use == use, Self.equal(entry.certificates.span, certificates),
      Self.equal(entry.signer.span, signer)
    else { return nil }
    return entry.chain
  }

  func insert(_ chain: SignerChain, for use: Use, _ certificates: Span<UInt8>, _ signer: Span<UInt8>) {
    let key = Self.key(certificates, signer)
    let (certificates, signer) = (Array(copying: certificates), Array(copying: signer))
    state.withLock { state in
      state.entries[key] = Entry(
        use: use, certificates: certificates, signer: signer, chain: chain, lastUse: state.uses)
      guard state.entries.count > capacity, let oldest = state.entries.min(by: { $0.value.lastUse < $1.value.lastUse })
      else { return }
      state.entries[oldest.key] = nil
    }
  }

  /// A hash, not a proof: every eighth byte of the end, which has the serial number and a signature.
  private static func key(_ certificates: Span<UInt8>, _ signer: Span<UInt8>) -> UInt64 {
    var key = UInt64(certificates.count) << 32 | UInt64(signer.count)
    for index in max(0, signer.count - 24)..<signer.count { key = (key ^ UInt64(signer[index])) &* 0x100_0000_01B3 }
    for index in max(0, certificates.count - 24)..<certificates.count {
      key = (key ^ UInt64(certificates[index])) &* 0x100_0000_01B3
    }
    return key
  }

  private static func equal(_ a: Span<UInt8>, _ b: Span<UInt8>) -> Bool {
    guard a.count == b.count else { return false }
    return unsafe a.withUnsafeBytes { a in
      unsafe b.withUnsafeBytes { b in
        guard let first = a.baseAddress, let second = b.baseAddress else { return true }
        return unsafe memcmp(first, second, a.count) == 0
      }
    }
  }
}
