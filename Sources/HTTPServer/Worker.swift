import CMicroHTTPD
import Synchronization

/// One thread that moves the bytes of its connections: a libmicrohttpd daemon without a listening socket.
///
/// Several of these, rather than the library's own pool: its pool must accept by itself, and there its `quiesce` races
/// with its threads (0.9.75: both remove the listening socket from epoll, and the second aborts the process).
///
/// `@unchecked Sendable` because the library's entry points used here lock for themselves, and `stop` is called once.
@safe final class Worker: @unchecked Sendable {
  private let daemon: OpaquePointer
  private let logger: UnsafeMutablePointer<switchyard_mhd_logger>
  private let core: ServerCore

  init(core: ServerCore, tls: TLSFiles?) throws(HTTPServerError) {
    self.core = core
    let remarks = Remarks(core: core)
    let remarksPointer = unsafe Unmanaged.passRetained(remarks)
    unsafe logger = .allocate(capacity: 1)
    unsafe logger.initialize(to: switchyard_mhd_logger(log: Callbacks.log, context: remarksPointer.toOpaque()))
    guard let daemon = unsafe Self.start(core: core, tls: tls, logger: logger) else {
      unsafe logger.deallocate()
      unsafe remarksPointer.release()
      let said = remarks.last ?? "no reason given"
      throw HTTPServerError(code: tls == nil ? .system : .badCertificate, detail: said)
    }
    unsafe self.daemon = daemon
  }

  /// Takes over a connection that is in the table, its descriptor included.
  ///
  /// False if the library would not have it; the descriptor is closed then, too.
  func add(_ connection: OpenConnection) -> Bool {
    unsafe MHD_add_connection(daemon, connection.descriptor, nil, 0) == .YES
  }

  /// Closes every connection and ends the thread; once, and never while a connection is suspended.
  func stop() {
    unsafe MHD_stop_daemon(daemon)
    if let context = unsafe logger.pointee.context { unsafe Unmanaged<Remarks>.fromOpaque(context).release() }
    unsafe logger.deallocate()
  }

  private static func start(
    core: ServerCore, tls: TLSFiles?, logger: UnsafeMutablePointer<switchyard_mhd_logger>
  ) -> OpaquePointer? {
    let context = unsafe Unmanaged.passUnretained(core).toOpaque()
    var flags =
      MHD_USE_EPOLL_INTERNAL_THREAD.rawValue | MHD_ALLOW_SUSPEND_RESUME.rawValue | MHD_USE_NO_LISTEN_SOCKET.rawValue
      | MHD_USE_ERROR_LOG.rawValue | MHD_USE_TURBO.rawValue
    var options = unsafe [
      // Half of it is the first read buffer; a head must fit, with an entry for each of its fields.
      option(.CONNECTION_MEMORY_LIMIT, max(2 * core.limits.head, 8 << 10)),
      // Ours is counted in the table, with a reason; the library's must never be the tighter one.
      option(.CONNECTION_LIMIT, core.limits.connections + 64),
      // Ours are in the table, too: the library's timer starts anew with every byte.
      option(.CONNECTION_TIMEOUT, 0),
      option(.STRICT_FOR_CLIENT, 1),
      option(.NOTIFY_CONNECTION, Callbacks.connection, context),
      option(.NOTIFY_COMPLETED, Callbacks.completed, context),
      option(.URI_LOG_CALLBACK, Callbacks.requestLine, context),
    ]
    guard let tls else {
      unsafe options.append(option(.END, 0))
      return unsafe switchyard_mhd_start(flags, Callbacks.request, context, logger, &options)
    }
    flags |= MHD_USE_TLS.rawValue
    return unsafe tls.certificate.withUnsafeBytes { certificate in
      unsafe tls.key.withUnsafeBytes { key in
        unsafe "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2".withCString { priorities in
          unsafe options.append(option(.HTTPS_PRIORITIES, 0, UnsafeRawPointer(priorities)))
          unsafe options.append(option(.HTTPS_MEM_CERT, 0, certificate.baseAddress))
          unsafe options.append(option(.HTTPS_MEM_KEY, 0, key.baseAddress))
          unsafe options.append(option(.END, 0))
          return unsafe switchyard_mhd_start(flags, Callbacks.request, context, logger, &options)
        }
      }
    }
  }

  private static func option(
    _ option: MHD_OPTION, _ value: Int, _ pointer: UnsafeRawPointer? = nil
  ) -> MHD_OptionItem {
    unsafe MHD_OptionItem(
      option: option, value: value, ptr_value: UnsafeMutableRawPointer(mutating: pointer))
  }

  /// An option that is a callback and its context.
  private static func option<Callback>(
    _ option: MHD_OPTION, _ callback: Callback, _ context: UnsafeMutableRawPointer
  ) -> MHD_OptionItem {
    unsafe MHD_OptionItem(option: option, value: unsafeBitCast(callback, to: Int.self), ptr_value: context)
  }
}

/// What the library says; the last of it is the reason when it does not start.
final class Remarks: Sendable {
  private let core: ServerCore
  private let latest = Mutex<String?>(nil)

  init(core: ServerCore) { self.core = core }

  var last: String? { latest.withLock { $0 } }

  func add(_ remark: String) {
    latest.withLock { $0 = remark }
    if let status = Self.status(in: remark) {
      core.tally.refused(status == 413 ? .bodyTooLarge : status == 414 || status == 431 ? .headTooLarge : .malformed)
      core.tally.answered(status: status, bytes: 0)
    }
    core.report(.library(remark))
  }

  /// The status the library answered by itself; it has no other way to tell.
  private static func status(in remark: String) -> Int? {
    let opening = "Error processing request (HTTP response code is "
    guard remark.hasPrefix(opening) else { return nil }
    return Int(remark.dropFirst(opening.count).prefix(3))
  }
}
