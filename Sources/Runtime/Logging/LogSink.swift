import Glibc
import Synchronization

/// Writes whole lines to a descriptor: one `write(2)` each, never interleaved, never waiting for ever.
///
/// When the other side stops reading, the first line waits a moment, the following ones are dropped at once and counted:
/// a stuck log reader must not stop a server that handles money. Lines of more than a page take several writes.
package final class LogSink: Sendable {
  /// What a pipe that polls as writable is sure to take without blocking (PIPE_BUF; Linux: one page).
  private static let chunk = 4_096

  private struct State {
    var isStalled = false
    var isTorn = false
    var dropped = 0
  }

  private let descriptor: Int32
  private let patience: Int32
  private let state = Mutex(State())

  /// The sink of the log handlers that a task makes.
  ///
  /// Tests set another one for a service in their own process.
  @TaskLocal package static var standardError = LogSink(descriptor: STDERR_FILENO)

  /// A sink over a descriptor that stays the caller's; `patience` in milliseconds is what a stalled reader costs once.
  package init(descriptor: Int32, patience: Int32 = 200) {
    self.descriptor = descriptor
    self.patience = patience
  }

  /// Writes a line, newline included; gives the number of lines dropped since this was last told, nil when this one is
  /// dropped too.
  package func write(_ line: [UInt8]) -> Int? {
    state.withLock { state in
      // A torn line is ended first, in the same write, so that it spoils only itself.
      guard deliver(state.isTorn ? [0x0a] + line : line, &state) else {
        state.dropped += 1
        return nil
      }
      defer { state.dropped = 0 }
      return state.dropped
    }
  }

  private func deliver(_ line: [UInt8], _ state: inout State) -> Bool {
    var rest = line[...]
    while !rest.isEmpty {
      let isReady = SystemCall.awaitWritable(descriptor, milliseconds: state.isStalled ? 0 : patience)
      guard isReady, let count = try? SystemCall.write(rest.prefix(Self.chunk), to: descriptor) else {
        state.isStalled = true
        state.isTorn = state.isTorn || rest.count < line.count
        return false
      }
      state.isStalled = false
      rest = rest.dropFirst(count)
    }
    state.isTorn = false
    return true
  }
}
