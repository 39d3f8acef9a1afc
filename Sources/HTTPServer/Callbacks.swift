import CMicroHTTPD

/// What the library calls; each only finds the Swift object and passes on.
enum Callbacks {
  static let connection: MHD_NotifyConnectionCallback = { core, handle, context, event in
    guard let core = unsafe core, let handle = unsafe handle, let context = unsafe context else { return }
    let server = unsafe Unmanaged<ServerCore>.fromOpaque(core).takeUnretainedValue()
    switch event {
    case .CONNECTION_NOTIFY_STARTED:
      let descriptor = unsafe switchyard_mhd_descriptor(handle)
      guard let connection = server.table.connection(on: descriptor) else { return }
      unsafe context.pointee = Unmanaged.passRetained(connection).toOpaque()
    case .CONNECTION_NOTIFY_CLOSED:
      guard let pointer = unsafe context.pointee else { return }
      server.table.remove(unsafe Unmanaged<OpenConnection>.fromOpaque(pointer).takeRetainedValue())
      unsafe context.pointee = nil
    @unknown default: break
    }
  }

  /// A request line has come in; what is returned is the request's context from now on.
  static let requestLine:
    @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, OpaquePointer?) -> UnsafeMutableRawPointer? = {
      core, target, handle in
      guard let core = unsafe core, let handle = unsafe handle,
        let pointer = unsafe switchyard_mhd_socket_context(handle)
      else { return nil }
      let server = unsafe Unmanaged<ServerCore>.fromOpaque(core).takeUnretainedValue()
      let connection = unsafe Unmanaged<OpenConnection>.fromOpaque(pointer).takeUnretainedValue()
      let exchange = unsafe Exchange(
        core: server, connection: connection, handle: handle, rawTarget: target.map { unsafe String(cString: $0) } ?? ""
      )
      return unsafe Unmanaged.passRetained(exchange).toOpaque()
    }

  static let request: MHD_AccessHandlerCallback = { _, _, _, method, _, data, size, context in
    guard let size = unsafe size, let pointer = unsafe context?.pointee else { return .NO }
    let exchange = unsafe Unmanaged<Exchange>.fromOpaque(pointer).takeUnretainedValue()
    let bytes = unsafe UnsafeRawPointer(data)?.assumingMemoryBound(to: UInt8.self)
    let part = unsafe UnsafeBufferPointer(start: bytes, count: bytes == nil ? 0 : size.pointee)
    unsafe size.pointee = 0
    return unsafe exchange.proceed(method: method, part: part) ? .YES : .NO
  }

  static let completed: MHD_RequestCompletedCallback = { _, _, context, _ in
    guard let context = unsafe context, let pointer = unsafe context.pointee else { return }
    unsafe context.pointee = nil
    unsafe Unmanaged<Exchange>.fromOpaque(pointer).takeRetainedValue().completed()
  }

  static let log: switchyard_mhd_log = { remarks, message in
    guard let remarks = unsafe remarks, let message = unsafe message else { return }
    let text = unsafe String(cString: message)
    unsafe Unmanaged<Remarks>.fromOpaque(remarks).takeUnretainedValue().add(
      text.last == "\n" ? String(text.dropLast()) : text)
  }
}
