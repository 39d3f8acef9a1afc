import CCurl
import Runtime
import Synchronization

/// The thread on which all of a client's transfers run at once, over one curl multi handle.
///
/// `@unchecked Sendable` because the multi handle belongs to the loop's thread; others only wake it, which curl allows,
/// and only under the inbox's lock while it exists.
@safe final class TransferLoop: @unchecked Sendable {
  private struct Inbox {
    var new: [Transfer] = []
    var someCancelled = false
    var isStopping = false
    var isOver = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private static let libraryIsReady: Bool = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

  private let configuration: HTTPClientConfiguration
  private let roots: TrustedRoots
  private let multi: UnsafeMutableRawPointer
  private let inbox = Mutex(Inbox())
  private var running: [UnsafeMutableRawPointer: Transfer] = unsafe [:]

  /// Traps if curl has no memory to begin with.
  init(_ configuration: HTTPClientConfiguration) {
    precondition(Self.libraryIsReady, "libcurl would not start")
    guard let multi = unsafe curl_multi_init() else { preconditionFailure("libcurl would not start") }
    self.configuration = configuration
    roots = TrustedRoots(additional: configuration.additionalRoots)
    unsafe self.multi = multi
    unsafe switchyard_curl_set_multi(multi, CURLMOPT_MAX_HOST_CONNECTIONS, max(1, configuration.connectionsPerHost))
    unsafe switchyard_curl_set_multi(multi, CURLMOPT_MAXCONNECTS, 64)
    DedicatedThread.start { [self] in run() }
  }

  func submit(_ transfer: Transfer) {
    let accepted = inbox.withLock { inbox in
      guard !inbox.isStopping else { return false }
      inbox.new.append(transfer)
      unsafe curl_multi_wakeup(multi)
      return true
    }
    if !accepted { transfer.finish(.failure(HTTPClientError(.shutDown, "the client has been shut down"))) }
  }

  func cancel(_ transfer: Transfer) {
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
    for unsafe (easy, transfer) in unsafe running {
      unsafe release(easy)
      transfer.finish(.failure(HTTPClientError(.shutDown, "the client has been shut down")))
    }
    let waiting = inbox.withLock { inbox in
      inbox.isOver = true
      unsafe curl_multi_cleanup(multi)
      return inbox.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  private func begin(_ transfer: Transfer) {
    guard !transfer.isCancelled.load(ordering: .acquiring) else {
      return transfer.finish(.failure(HTTPClientError(.cancelled, "cancelled before it began")))
    }
    guard let easy = unsafe transfer.prepare(configuration, roots: roots) else {
      return transfer.finish(.failure(HTTPClientError(.other, "no memory for a transfer")))
    }
    unsafe running[easy] = transfer
    let status = unsafe curl_multi_add_handle(multi, easy)
    guard status == CURLM_OK else {
      unsafe release(easy)
      let said = unsafe String(cString: curl_multi_strerror(status))
      return transfer.finish(.failure(HTTPClientError(.other, said)))
    }
  }

  private func endCancelled() {
    for unsafe (easy, transfer) in unsafe running where transfer.isCancelled.load(ordering: .acquiring) {
      unsafe release(easy)
      transfer.finish(.failure(HTTPClientError(.cancelled, "cancelled on its way")))
    }
  }

  private func finishCompleted() {
    var left: Int32 = 0
    while let message = unsafe curl_multi_info_read(multi, &left) {
      guard unsafe message.pointee.msg == CURLMSG_DONE, let easy = unsafe message.pointee.easy_handle,
        let transfer = unsafe running[easy]
      else { continue }
      let outcome = unsafe transfer.outcome(switchyard_curl_result(message), of: easy)
      unsafe release(easy)
      transfer.finish(outcome)
    }
  }

  private func release(_ easy: UnsafeMutableRawPointer) {
    unsafe running[easy] = nil
    unsafe curl_multi_remove_handle(multi, easy)
    unsafe curl_easy_cleanup(easy)
  }
}
