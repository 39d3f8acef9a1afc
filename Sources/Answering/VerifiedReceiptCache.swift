import Receipts
import Signing
import Synchronization

/// The proven receipts that a class of callers sent last: old clients send the same one again and again, and it is proven once.
///
/// What a receipt says depends on its bytes alone, so what is remembered is what reading it again would say. What nobody
/// vouches for is not remembered: forged receipts push out nothing. Bounded in bytes; when half of them are newer than
/// everything else, everything else goes.
package final class VerifiedReceiptCache: Sendable {
  private struct State {
    var newer: [Digest: VerifiedReceipt] = [:]
    var older: [Digest: VerifiedReceipt] = [:]
    /// Of `newer`.
    var bytes = 0
  }

  private let state = Mutex(State())
  private let mostBytes: Int

  /// - Parameter mostBytes: of receipts in base64; what is remembered of one takes about as much.
  package init(mostBytes: Int = 8 << 20) { self.mostBytes = mostBytes }

  /// Receipts that are remembered.
  package var count: Int { state.withLock { $0.newer.count + $0.older.count } }

  /// - Parameter digest: of the receipt in base64.
  func receipt(_ digest: Digest) -> VerifiedReceipt? {
    state.withLock { $0.newer[digest] ?? $0.older[digest] }
  }

  /// - Parameter bytes: of the receipt in base64.
  func keep(_ receipt: VerifiedReceipt, _ digest: Digest, bytes: Int) {
    guard bytes <= mostBytes / 16 else { return }
    // Given back when the lock is open again: thousands of receipts take a while.
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
