import CCurl
import Runtime
import Synchronization

/// The thread on which all of a client's transfers run at once, over one curl multi handle.
///
/// `@unchecked Sendable` because the multi handle belongs to the loop's thread; others only wake it, which curl allows,
/// and only under the inbox's lock while it exists.
@safe final class TransferLoop: @unchecked Sendable {
  private struct Inbox {
    var new: [CurlTransfer] = []
    var someCancelled = false
    var isStopping = false
    var isOver = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private static let libraryIsReady: Bool = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

  private let configuration: HTTPClientConfiguration
  private let roots: PeerRoots
  private let multi: UnsafeMutableRawPointer
  private let inbox = Mutex(Inbox())
  /// By the address of curl's handle.
  private var running: [Int: CurlTransfer] = [:]

  /// Traps if curl has no memory to begin with.
  init(_ configuration: HTTPClientConfiguration) {
    precondition(Self.libraryIsReady, "libcurl would not start")
    guard let multi = unsafe curl_multi_init() else { preconditionFailure("libcurl would not start") }
    self.configuration = configuration
    roots = PeerRoots(additional: configuration.additionalRoots)
    unsafe self.multi = multi
    let mostPerHost = max(1, configuration.connectionsPerHost)
    unsafe switchyard_curl_set_multi(multi, CURLMOPT_MAX_HOST_CONNECTIONS, mostPerHost)
    // What one host may have is kept: otherwise over HTTP/1.1 every burst would connect anew.
    unsafe switchyard_curl_set_multi(multi, CURLMOPT_MAXCONNECTS, max(64, mostPerHost))
    DedicatedThread.start { [self] in run() }
  }

  func submit(_ transfer: CurlTransfer) {
    let accepted = inbox.withLock { inbox in
      guard !inbox.isStopping else { return false }
      inbox.new.append(transfer)
      unsafe curl_multi_wakeup(multi)
      return true
    }
    if !accepted { transfer.finish(.failure(HTTPClientError(.shutDown, "the client has been shut down"))) }
  }

  func cancel(_ transfer: CurlTransfer) {
    transfer.isCancelled.store(true, ordering: .releasing)
    inbox.withLock { inbox in
      inbox.someCancelled = true
      if !inbox.isOver { unsafe curl_multi_wakeup(multi) }
    }
  }

  /// Ends every transfer and the thread.
  func stop() {
    inbox.withLock { inbox in
      inbox.isStopping = true
      if !inbox.isOver { unsafe curl_multi_wakeup(multi) }
    }
  }

  /// Returns when the thread has ended.
  func ended() async {
    await withCheckedContinuation { continuation in
      let isOver = inbox.withLock { inbox in
        if !inbox.isOver { inbox.waiting.append(continuation) }
        return inbox.isOver
      }
      if isOver { continuation.resume() }
    }
  }

  // MARK: On the thread

  private func run() {
    while true {
      let (new, someCancelled, isStopping) = inbox.withLock { inbox in
        defer {
          inbox.new = []
          inbox.someCancelled = false
        }
        return (inbox.new, inbox.someCancelled, inbox.isStopping)
      }
      for transfer in new { begin(transfer) }
      if someCancelled { endCancelled() }
      if isStopping { break }
      var count: Int32 = 0
      unsafe curl_multi_perform(multi, &count)
      finishCompleted()
      unsafe curl_multi_poll(multi, nil, 0, 60_000, nil)
    }
    for transfer in running.values {
      end(transfer, .failure(HTTPClientError(.shutDown, "the client has been shut down", wasBegun: transfer.wasBegun)))
    }
    let waiting = inbox.withLock { inbox in
      inbox.isOver = true
      unsafe curl_multi_cleanup(multi)
      return inbox.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  private func begin(_ transfer: CurlTransfer) {
    guard !transfer.isCancelled.load(ordering: .acquiring) else {
      return transfer.finish(.failure(HTTPClientError(.cancelled, "cancelled before it began")))
    }
    guard transfer.prepare(configuration, roots: roots) else {
      return transfer.finish(.failure(HTTPClientError(.other, "no memory for a transfer")))
    }
    running[unsafe Int(bitPattern: transfer.easy)] = transfer
    let status = unsafe curl_multi_add_handle(multi, transfer.easy)
    if status != CURLM_OK {
      end(transfer, .failure(HTTPClientError(.other, unsafe String(cString: curl_multi_strerror(status)))))
    }
  }

  private func endCancelled() {
    for transfer in running.values where transfer.isCancelled.load(ordering: .acquiring) {
      end(transfer, .failure(HTTPClientError(.cancelled, "cancelled in flight", wasBegun: transfer.wasBegun)))
    }
  }

  private func finishCompleted() {
    var left: Int32 = 0
    while let message = unsafe curl_multi_info_read(multi, &left) {
      guard unsafe message.pointee.msg == CURLMSG_DONE,
        let transfer = running[unsafe Int(bitPattern: message.pointee.easy_handle)]
      else { continue }
      end(transfer, transfer.outcome(unsafe switchyard_curl_result(message)))
    }
  }

  private func end(_ transfer: CurlTransfer, _ outcome: CurlTransfer.Outcome) {
    running[unsafe Int(bitPattern: transfer.easy)] = nil
    unsafe curl_multi_remove_handle(multi, transfer.easy)
    transfer.release()
    transfer.finish(outcome)
  }
}
