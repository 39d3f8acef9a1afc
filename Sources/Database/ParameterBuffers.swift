import CMariaDB

/// The arguments of one execution in the form the library reads them: one block of memory, bindings into it.
@safe final class ParameterBuffers {
  private let memory: UnsafeMutableRawPointer
  private let bindings: UnsafeMutableBufferPointer<MYSQL_BIND>

  init(_ arguments: [SQLValue]) {
    unsafe bindings = .allocate(capacity: arguments.count)
    unsafe bindings.initialize(repeating: MYSQL_BIND())
    let size = arguments.reduce(0) { $0 + Self.size(of: $1) }
    unsafe memory = .allocate(byteCount: max(8, size), alignment: 8)
    var next = unsafe memory
    for (index, argument) in arguments.enumerated() {
      unsafe bindings[index] = Self.binding(of: argument, storedAt: next)
      unsafe next += Self.size(of: argument)
    }
  }

  deinit {
    unsafe bindings.deallocate()
    unsafe memory.deallocate()
  }

  func bind(to statement: UnsafeMutablePointer<MYSQL_STMT>) -> my_bool {
    unsafe bindings.isEmpty ? 0 : mysql_stmt_bind_param(statement, bindings.baseAddress)
  }

  /// Bytes taken, rounded up so that integers stay aligned.
  private static func size(of argument: SQLValue) -> Int {
    switch argument {
    case .null: 0
    case .integer, .unsigned: 8
    case .bytes(let value): (value.count + 7) & ~7
    case .text(let value): (value.utf8.count + 7) & ~7
    }
  }

  private static func binding(of argument: SQLValue, storedAt place: UnsafeMutableRawPointer) -> MYSQL_BIND {
    var binding = unsafe MYSQL_BIND()
    unsafe binding.buffer = place
    switch argument {
    case .null:
      unsafe binding.buffer_type = MYSQL_TYPE_NULL
    case .integer(let value):
      unsafe place.storeBytes(of: value, as: Int64.self)
      unsafe binding.buffer_type = MYSQL_TYPE_LONGLONG
    case .unsigned(let value):
      unsafe place.storeBytes(of: value, as: UInt64.self)
      unsafe binding.buffer_type = MYSQL_TYPE_LONGLONG
      unsafe binding.is_unsigned = 1
    case .bytes(let value):
      unsafe binding.buffer_length = copy(value, to: place)
      unsafe binding.buffer_type = MYSQL_TYPE_BLOB
    case .text(let value):
      var value = value
      unsafe binding.buffer_length = value.withUTF8 { utf8 in
        if let base = utf8.baseAddress { unsafe place.copyMemory(from: base, byteCount: utf8.count) }
        return UInt(utf8.count)
      }
      unsafe binding.buffer_type = MYSQL_TYPE_STRING
    }
    return unsafe binding
  }

  private static func copy(_ value: [UInt8], to place: UnsafeMutableRawPointer) -> UInt {
    unsafe value.withUnsafeBytes { bytes in
      if let base = bytes.baseAddress { unsafe place.copyMemory(from: base, byteCount: bytes.count) }
      return UInt(bytes.count)
    }
  }
}
