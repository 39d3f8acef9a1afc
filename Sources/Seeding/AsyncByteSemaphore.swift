import Synchronization

/// Room for the answers that are being read and recorded, in bytes: what does not fit waits its turn.
///
/// Many ask at once, and nobody knows how much they will be told. Who waits here is patient; who handed more to the
/// group commit than it takes would be refused, and Apple asked again. What came and waits here is in memory too: a page
/// for each look-up that is under way.
final class AsyncByteSemaphore: Sendable {
  private struct State {
    var bytes = 0
    var waiting: [(size: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let capacity: Int
  private let state = Mutex(State())

  init(bytes capacity: Int) { self.capacity = capacity }

  /// Returns when there is room; what is larger than all of it comes in alone.
  ///
  /// Not to be cancelled: whoever is inside leaves soon.
  func enter(_ size: Int) async {
    await withCheckedContinuation { continuation in
      let isInside = state.withLock { state in
        guard state.waiting.isEmpty, fits(size, state) else {
          state.waiting.append((size, continuation))
          return false
        }
        state.bytes += size
        return true
      }
      if isInside { continuation.resume() }
    }
  }

  func leave(_ size: Int) {
    let admitted = state.withLock { state in
      state.bytes -= size
      var admitted: [CheckedContinuation<Void, Never>] = []
      while let first = state.waiting.first, fits(first.size, state) {
        state.bytes += first.size
        admitted.append(state.waiting.removeFirst().continuation)
      }
      return admitted
    }
    for continuation in admitted { continuation.resume() }
  }

  private func fits(_ size: Int, _ state: State) -> Bool { state.bytes == 0 || state.bytes + size <= capacity }
}
