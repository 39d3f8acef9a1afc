import CCurl
import Runtime
import Synchronization
import Time

/// One request on its way and what has come back of it.
///
/// `@unchecked Sendable` because everything but `isCancelled` and the continuation belongs to the loop's thread.
@safe final class CurlTransfer: @unchecked Sendable {
  typealias Outcome = Result<ClientResponse, HTTPClientError>

  let request: ClientRequest
  /// Set by anyone, heeded by the loop.
  let isCancelled = Atomic(false)
  private let continuation = Mutex<CheckedContinuation<Outcome, Never>?>(nil)
  private var received: ReceivedResponse
  private let complaint: UnsafeMutablePointer<CChar>
  /// Curl's handle while the transfer runs.
  private(set) var easy: UnsafeMutableRawPointer?
  private var headerList: UnsafeMutablePointer<curl_slist>?

  init(_ request: ClientRequest, headerLimit: Int) {
    self.request = request
    received = ReceivedResponse(
      bodyLimit: request.responseLimit, headerLimit: headerLimit, admit: request.admit)
    unsafe complaint = .allocate(capacity: Int(CURL_ERROR_SIZE))
    unsafe complaint.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
  }

  deinit {
    unsafe complaint.deallocate()
    unsafe curl_slist_free_all(headerList)
  }

  func await(_ continuation: CheckedContinuation<Outcome, Never>) {
    self.continuation.withLock { $0 = continuation }
  }

  /// Tells who waits; only the first outcome counts.
  func finish(_ outcome: Outcome) {
    continuation.withLock { $0.take() }?.resume(returning: outcome)
  }

  /// Makes the curl handle that performs this transfer; false when there is no memory.
  func prepare(_ configuration: HTTPClientConfiguration, roots: PeerRoots) -> Bool {
    guard let easy = unsafe curl_easy_init() else { return false }
    unsafe self.easy = easy
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    unsafe switchyard_curl_set_string(easy, CURLOPT_URL, request.url)
    unsafe switchyard_curl_set_pointer(easy, CURLOPT_ERRORBUFFER, complaint)
    unsafe switchyard_curl_set_receiver(easy, CURLOPT_WRITEFUNCTION, Self.receiveBody)
    unsafe switchyard_curl_set_pointer(easy, CURLOPT_WRITEDATA, context)
    unsafe switchyard_curl_set_receiver(easy, CURLOPT_HEADERFUNCTION, Self.receiveHeader)
    unsafe switchyard_curl_set_pointer(easy, CURLOPT_HEADERDATA, context)
    unsafe switchyard_curl_set_size(easy, CURLOPT_MAXFILESIZE_LARGE, Int(max(1, request.responseLimit)))
    unsafe switchyard_curl_set_string(easy, CURLOPT_USERAGENT, configuration.userAgent)
    unsafe setSafety(of: easy, configuration, roots)
    unsafe setTimes(of: easy, configuration)
    unsafe setContent(of: easy)
    return true
  }

  /// Gives curl's handle back; it must have left the loop.
  func release() {
    unsafe curl_easy_cleanup(easy)
    unsafe easy = nil
  }

  /// Whether some of the request has gone out.
  var wasBegun: Bool { unsafe easy.map { unsafe switchyard_curl_long($0, CURLINFO_REQUEST_SIZE) > 0 } ?? false }

  /// What came of it, once curl is done.
  func outcome(_ result: CURLcode) -> Outcome {
    if let overflow = received.overflow { return .failure(overflow) }
    guard result == CURLE_OK else {
      return .failure(HTTPClientError(result, said: unsafe String(cString: complaint)))
    }
    guard let status = received.status, let easy = unsafe easy else {
      return .failure(HTTPClientError(.malformedResponse, "there is no status"))
    }
    return .success(
      ClientResponse(
        status: status, headers: ClientHeaders(fields: received.fields), body: received.body,
        version: unsafe Self.version(of: easy), timing: unsafe Self.timing(of: easy)))
  }

  // MARK: Options

  private func setSafety(
    of easy: UnsafeMutableRawPointer, _ configuration: HTTPClientConfiguration, _ roots: PeerRoots
  ) {
    unsafe switchyard_curl_set_string(easy, CURLOPT_PROTOCOLS_STR, "http,https")
    unsafe switchyard_curl_set_long(easy, CURLOPT_FOLLOWLOCATION, 0)
    unsafe setTLS(of: easy, roots)
    // Empty, not unset: unset would read http_proxy from the environment.
    unsafe switchyard_curl_set_string(easy, CURLOPT_PROXY, configuration.proxy ?? "")
    unsafe switchyard_curl_set_string(easy, CURLOPT_NOPROXY, "")
    unsafe switchyard_curl_set_long(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    unsafe switchyard_curl_limit_descriptors(easy, OpenFileLimit.endOfConnections)
  }

  private func setTimes(of easy: UnsafeMutableRawPointer, _ configuration: HTTPClientConfiguration) {
    let whole = Int(max(1, request.deadline.milliseconds))
    unsafe switchyard_curl_set_long(easy, CURLOPT_TIMEOUT_MS, whole)
    unsafe switchyard_curl_set_long(
      easy, CURLOPT_CONNECTTIMEOUT_MS, min(whole, Int(max(1, configuration.connectWithin.milliseconds))))
    unsafe switchyard_curl_set_long(easy, CURLOPT_NOSIGNAL, 1)
    // Without it, ending a transfer whose name look-up hangs waits for the look-up, and all other transfers with it.
    unsafe switchyard_curl_set_long(easy, CURLOPT_QUICK_EXIT, 1)
    unsafe switchyard_curl_set_long(easy, CURLOPT_TCP_KEEPALIVE, 1)
    unsafe switchyard_curl_set_long(easy, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
    // TLS says whether a connection takes many requests. Without TLS the first answer says so: were it waited for, a host that hangs
    // would get one request, and all others would wait behind it.
    if request.url.lowercased().hasPrefix("https:") { unsafe switchyard_curl_set_long(easy, CURLOPT_PIPEWAIT, 1) }
    // Over HTTP/2 a deadline ends a stream and keeps the connection, though nobody may be at its other end any more.
    unsafe switchyard_curl_limit_silence(easy, UInt32(clamping: configuration.acknowledgedWithin.milliseconds))
    if !request.mayRepeat { unsafe switchyard_curl_set_long(easy, CURLOPT_FRESH_CONNECT, 1) }
  }

  private func setContent(of easy: UnsafeMutableRawPointer) {
    if request.method == "HEAD" {
      unsafe switchyard_curl_set_long(easy, CURLOPT_NOBODY, 1)
    } else if !request.body.isEmpty || ["POST", "PUT", "PATCH"].contains(request.method) {
      unsafe switchyard_curl_set_long(easy, CURLOPT_POST, 1)
      unsafe switchyard_curl_set_size(easy, CURLOPT_POSTFIELDSIZE_LARGE, request.body.count)
      unsafe request.body.withUnsafeBytes { body in
        _ = unsafe switchyard_curl_set_pointer(
          easy, CURLOPT_COPYPOSTFIELDS, UnsafeMutableRawPointer(mutating: body.baseAddress))
      }
    }
    if !["GET", "HEAD", "POST"].contains(request.method) || request.method == "GET" && !request.body.isEmpty {
      unsafe switchyard_curl_set_string(easy, CURLOPT_CUSTOMREQUEST, request.method)
    }
    // An empty header in this list takes back what curl would add by itself.
    var lines = ["Expect:"]
    if !request.headers.contains(where: { $0.name.lowercased() == "content-type" }) { lines.append("Content-Type:") }
    lines += request.headers.map { $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" }
    for line in lines { unsafe headerList = curl_slist_append(headerList, line) }
    unsafe switchyard_curl_set_pointer(easy, CURLOPT_HTTPHEADER, headerList)
  }

  // MARK: Receiving

  private static let receiveBody: switchyard_curl_receiver = { bytes, size, count, context in
    guard let transfer = unsafe transfer(context) else { return 0 }
    return unsafe transfer.received.takeBody(UnsafeRawBufferPointer(start: bytes, count: size * count))
      ? size * count : 0
  }

  private static let receiveHeader: switchyard_curl_receiver = { bytes, size, count, context in
    guard let transfer = unsafe transfer(context) else { return 0 }
    return unsafe transfer.received.takeHeader(UnsafeRawBufferPointer(start: bytes, count: size * count))
      ? size * count : 0
  }

  private static func transfer(_ context: UnsafeMutableRawPointer?) -> CurlTransfer? {
    unsafe context.map { unsafe Unmanaged<CurlTransfer>.fromOpaque($0).takeUnretainedValue() }
  }

  private static func version(of easy: UnsafeMutableRawPointer) -> ClientResponse.Version {
    switch unsafe switchyard_curl_long(easy, CURLINFO_HTTP_VERSION) {
    case Int(CURL_HTTP_VERSION_1_0): .http1_0
    case Int(CURL_HTTP_VERSION_1_1): .http1_1
    case Int(CURL_HTTP_VERSION_2_0): .http2
    default: .other
    }
  }

  private static func timing(of easy: UnsafeMutableRawPointer) -> ClientTiming {
    unsafe ClientTiming(
      resolved: switchyard_curl_offset(easy, CURLINFO_NAMELOOKUP_TIME_T),
      connected: switchyard_curl_offset(easy, CURLINFO_CONNECT_TIME_T),
      secured: switchyard_curl_offset(easy, CURLINFO_APPCONNECT_TIME_T),
      firstByte: switchyard_curl_offset(easy, CURLINFO_STARTTRANSFER_TIME_T),
      total: switchyard_curl_offset(easy, CURLINFO_TOTAL_TIME_T),
      reusedConnection: switchyard_curl_long(easy, CURLINFO_NUM_CONNECTS) == 0)
  }
}
