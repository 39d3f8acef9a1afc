import Receipts
import Signing
import Synchronization

/// The last proven receipts of one class of callers, because old clients send the same one repeatedly.
///
/// A receipt's content depends only on its bytes, so an entry equals another read. Unverified receipts are not stored,
/// so forgeries remove nothing. Bounded in bytes; when half of them are newer than the rest, the rest is removed.
package final class VerifiedReceiptCache: Sendable {
  private struct State {
    var newer: [Digest: VerifiedReceipt] = [:]
    var older: [Digest: VerifiedReceipt] = [:]
    /// The bytes of `newer`.
    var bytes = 0
  }

  private let state = Mutex(State())
  private let mostBytes: Int

  /// - Parameter mostBytes: of base64 receipts; an entry takes about the same.
  package init(mostBytes: Int = 8 << 20) { self.mostBytes = mostBytes }

  package var count: Int { state.withLock { $0.newer.count + $0.older.count } }

  /// - Parameter digest: of the base64 receipt.
  func receipt(_ digest: Digest) -> VerifiedReceipt? {
    state.withLock { $0.newer[digest] ?? $0.older[digest] }
  }

  /// - Parameter bytes: of the base64 receipt.
  func keep(_ receipt: VerifiedReceipt, _ digest: Digest, bytes: Int) {
    guard bytes <= mostBytes / 16 else { return }
    // Released after the lock: freeing thousands of receipts is slow.
    var gone: [Digest: VerifiedReceipt] = [:]
    state.withLock { state in
      guard state.newer.updateValue(receipt, forKey: digest) == nil else { return }
      state.bytes += bytes
      guard state.bytes > mostBytes / 2 else { return }
      gone = state.older
      (state.older, state.newer, state.bytes) = (state.newer, [:], 0)
    }
    withExtendedLifetime(gone) {}
  }
}
