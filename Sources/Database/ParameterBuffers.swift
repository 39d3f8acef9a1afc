import CMariaDB

/// The arguments of one execution in the library's form: one block of memory with bindings.
@safe final class ParameterBuffers {
  private let memory: UnsafeMutableRawPointer
  private let bindings: UnsafeMutableBufferPointer<MYSQL_BIND>

  init(_ rows: ArraySlice<[SQLValue]>) {
    var (count, size) = (0, 0)
    for row in rows {
      count += row.count
      for value in row { size += Self.size(of: value) }
    }
    unsafe bindings = .allocate(capacity: count)
    unsafe bindings.initialize(repeating: MYSQL_BIND())
    unsafe memory = .allocate(byteCount: max(8, size), alignment: 8)
    var (index, next) = unsafe (0, memory)
    for row in rows {
      for value in row {
        unsafe Self.store(value, at: next, &bindings[index])
        unsafe next += Self.size(of: value)
        index += 1
      }
    }
  }

  deinit {
    unsafe bindings.deallocate()
    unsafe memory.deallocate()
  }

  func bind(to statement: UnsafeMutablePointer<MYSQL_STMT>) -> my_bool {
    unsafe bindings.isEmpty ? 0 : mysql_stmt_bind_param(statement, bindings.baseAddress)
  }

  private static func size(of value: SQLValue) -> Int {
    switch value {
    case .null: 0
    case .integer, .unsigned: 8
    case .bytes(let bytes): (bytes.count + 7) & ~7
    case .text(let text): (text.utf8.count + 7) & ~7
    }
  }

  private static func store(_ value: SQLValue, at place: UnsafeMutableRawPointer, _ binding: inout MYSQL_BIND) {
    unsafe binding.buffer = place
    switch value {
    case .null:
      unsafe binding.buffer_type = MYSQL_TYPE_NULL
    case .integer(let number):
      unsafe place.storeBytes(of: number, as: Int64.self)
      unsafe binding.buffer_type = MYSQL_TYPE_LONGLONG
    case .unsigned(let number):
      unsafe place.storeBytes(of: number, as: UInt64.self)
      unsafe binding.buffer_type = MYSQL_TYPE_LONGLONG
      unsafe binding.is_unsigned = 1
    case .bytes(let bytes):
      unsafe bytes.withUnsafeBytes { bytes in unsafe copy(bytes, to: place) }
      unsafe binding.buffer_length = UInt(bytes.count)
      unsafe binding.buffer_type = MYSQL_TYPE_BLOB
    case .text(var text):
      text.withUTF8 { utf8 in unsafe copy(UnsafeRawBufferPointer(utf8), to: place) }
      unsafe binding.buffer_length = UInt(text.utf8.count)
      unsafe binding.buffer_type = MYSQL_TYPE_STRING
    }
  }

  private static func copy(_ bytes: UnsafeRawBufferPointer, to place: UnsafeMutableRawPointer) {
    guard let base = bytes.baseAddress else { return }
    unsafe place.copyMemory(from: base, byteCount: bytes.count)
  }
}
