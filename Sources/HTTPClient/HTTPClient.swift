import Synchronization

/// Sends requests over HTTP/1.1 and, where offered, HTTP/2, on a thread of its own.
///
/// Any number may be on their way at once without holding a thread of Swift's; connections are kept and shared.
package final class HTTPClient: Sendable {
  private let loop: TransferLoop
  private let configuration: HTTPClientConfiguration
  private let requests = Atomic<Int>(0)

  package init(_ configuration: HTTPClientConfiguration = HTTPClientConfiguration()) {
    self.configuration = configuration
    loop = TransferLoop(configuration)
  }

  deinit { loop.stop() }

  /// Requests that have no response yet.
  package var underWay: Int { requests.load(ordering: .acquiring) }

  /// The response, whatever its status; an error when there is none.
  ///
  /// Cancelling the task ends the transfer.
  ///
  /// Redirects are answers like any other. Nothing is retried, except by curl what may repeat, when a kept connection
  /// turns out to be dead before any byte of an answer (RFC 9112, 9.3.1).
  package func send(_ request: ClientRequest) async throws(HTTPClientError) -> ClientResponse {
    try request.check()
    let transfer = CurlTransfer(request, headerLimit: configuration.responseHeaders)
    requests.add(1, ordering: .acquiringAndReleasing)
    defer { requests.subtract(1, ordering: .acquiringAndReleasing) }
    let outcome = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        transfer.await(continuation)
        loop.submit(transfer)
      }
    } onCancel: {
      loop.cancel(transfer)
    }
    return try outcome.get()
  }

  /// Ends what is on its way with `shutDown`, closes all connections, and returns when that is done.
  package func shutdown() async {
    loop.stop()
    await loop.ended()
  }
}
