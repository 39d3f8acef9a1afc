import CMariaDB
import Glibc

/// The buffers for the columns of a row, which grow to the longest value.
@safe final class ResultBuffers {
  private enum Kind {
    case integer, unsigned, bytes, text
    /// A DECIMAL without decimals, such as SUM() of integers: an integer if it fits, otherwise text.
    case wholeNumber
  }

  private static let firstSize = 4 << 10
  /// Longer buffers are freed after each result.
  private static let keptSize = 64 << 10

  private let names: [String]
  private let kinds: [Kind]
  private let limit: Int
  private let bindings: UnsafeMutableBufferPointer<MYSQL_BIND>
  private let lengths: UnsafeMutablePointer<UInt>
  private let nulls: UnsafeMutablePointer<my_bool>
  private let truncations: UnsafeMutablePointer<my_bool>

  var count: Int { names.count }

  init(metadata: UnsafeMutablePointer<MYSQL_RES>, limit: Int) {
    let fields = unsafe Self.fields(of: metadata)
    names = unsafe fields.map { unsafe String(cString: $0.name) }
    kinds = unsafe fields.map { unsafe Self.kind(of: $0) }
    self.limit = limit
    unsafe bindings = .allocate(capacity: fields.count)
    unsafe bindings.initialize(repeating: MYSQL_BIND())
    unsafe lengths = .allocate(capacity: fields.count)
    unsafe nulls = .allocate(capacity: fields.count)
    unsafe truncations = .allocate(capacity: fields.count)
    unsafe lengths.initialize(repeating: 0, count: fields.count)
    unsafe nulls.initialize(repeating: 0, count: fields.count)
    unsafe truncations.initialize(repeating: 0, count: fields.count)
    for (index, kind) in kinds.enumerated() {
      switch kind {
      case .integer, .unsigned: allocate(index, 8)
      case .bytes, .text, .wholeNumber:
        allocate(index, max(8, min(Self.firstSize, Int(clamping: unsafe fields[index].length))))
      }
    }
  }

  deinit {
    for index in unsafe bindings.indices { unsafe bindings[index].buffer.deallocate() }
    unsafe bindings.deallocate()
    unsafe lengths.deallocate()
    unsafe nulls.deallocate()
    unsafe truncations.deallocate()
  }

  /// Whether the buffers fit a result of these columns.
  func fit(_ metadata: UnsafeMutablePointer<MYSQL_RES>) -> Bool {
    let fields = unsafe Self.fields(of: metadata)
    guard fields.count == count else { return false }
    return kinds.indices.allSatisfy { index in
      unsafe kinds[index] == Self.kind(of: fields[index]) && strcmp(fields[index].name, names[index]) == 0
    }
  }

  func bind(to statement: UnsafeMutablePointer<MYSQL_STMT>) -> my_bool {
    for index in kinds.indices { point(index) }
    return unsafe mysql_stmt_bind_result(statement, bindings.baseAddress)
  }

  /// Returns the fetched row.
  ///
  /// A value longer than its buffer is fetched again into a larger one.
  func row(of statement: UnsafeMutablePointer<MYSQL_STMT>) throws(DatabaseError) -> Row {
    var values: [SQLValue] = []
    values.reserveCapacity(count)
    var grown = false
    for index in kinds.indices {
      let length = Int(unsafe lengths[index])
      if unsafe nulls[index] == 0, unsafe length > Int(bindings[index].buffer_length) {
        guard length <= limit else {
          throw DatabaseError(.tooLarge, "column '\(names[index])' has \(length) bytes, the limit is \(limit)")
        }
        grow(index, to: length)
        grown = true
        let status = unsafe mysql_stmt_fetch_column(statement, &bindings[index], UInt32(index), 0)
        guard status == 0 else {
          throw unsafe DatabaseError(
            number: Int(mysql_stmt_errno(statement)), message: String(cString: mysql_stmt_error(statement)))
        }
      }
      values.append(value(index))
    }
    if grown { _ = unsafe bind(to: statement) }  // The library copied the old pointers.
    return Row(names: names, values: values)
  }

  /// Frees the memory of unusually long values.
  func shrink() {
    for index in unsafe bindings.indices where unsafe bindings[index].buffer_length > UInt(Self.keptSize) {
      unsafe bindings[index].buffer.deallocate()
      allocate(index, Self.firstSize)
    }
  }

  private func value(_ index: Int) -> SQLValue {
    if unsafe nulls[index] != 0 { return .null }
    guard let buffer = unsafe bindings[index].buffer else { return .null }
    let bytes = unsafe UnsafeBufferPointer(
      start: buffer.assumingMemoryBound(to: UInt8.self), count: Int(lengths[index]))
    switch kinds[index] {
    case .integer: return unsafe .integer(buffer.load(as: Int64.self))
    case .unsigned: return unsafe .unsigned(buffer.load(as: UInt64.self))
    case .bytes: return unsafe .bytes(Array(bytes))
    case .text:
      // Never repaired: invalid UTF-8 is returned as bytes.
      return unsafe String(validating: bytes, as: UTF8.self).map { .text($0) } ?? .bytes(Array(bytes))
    case .wholeNumber:
      let digits = unsafe String(decoding: bytes, as: UTF8.self)
      if let number = Int64(digits) { return .integer(number) }
      if let number = UInt64(digits) { return .unsigned(number) }
      return .text(digits)
    }
  }

  private func grow(_ index: Int, to length: Int) {
    unsafe bindings[index].buffer.deallocate()
    allocate(index, min(limit, max(length, 2 * Int(unsafe bindings[index].buffer_length))))
  }

  private func allocate(_ index: Int, _ size: Int) {
    unsafe bindings[index].buffer = .allocate(byteCount: size, alignment: 8)
    unsafe bindings[index].buffer_length = UInt(size)
    point(index)
  }

  private func point(_ index: Int) {
    unsafe bindings[index].length = lengths + index
    unsafe bindings[index].is_null = nulls + index
    unsafe bindings[index].error = truncations + index
    switch kinds[index] {
    case .integer, .unsigned:
      unsafe bindings[index].buffer_type = MYSQL_TYPE_LONGLONG
      unsafe bindings[index].is_unsigned = kinds[index] == .unsigned ? 1 : 0
    case .bytes: unsafe bindings[index].buffer_type = MYSQL_TYPE_BLOB
    case .text, .wholeNumber: unsafe bindings[index].buffer_type = MYSQL_TYPE_STRING
    }
  }

  private static func fields(of metadata: UnsafeMutablePointer<MYSQL_RES>) -> UnsafeBufferPointer<MYSQL_FIELD> {
    unsafe UnsafeBufferPointer(start: mysql_fetch_fields(metadata), count: Int(mysql_num_fields(metadata)))
  }

  private static let binaryCharacterSet: UInt32 = 63

  private static func kind(of field: MYSQL_FIELD) -> Kind {
    switch unsafe field.type {
    case MYSQL_TYPE_TINY, MYSQL_TYPE_SHORT, MYSQL_TYPE_INT24, MYSQL_TYPE_LONG, MYSQL_TYPE_LONGLONG, MYSQL_TYPE_YEAR:
      unsafe field.flags & UInt32(UNSIGNED_FLAG) == 0 ? .integer : .unsigned
    case MYSQL_TYPE_DECIMAL, MYSQL_TYPE_NEWDECIMAL:
      unsafe field.decimals == 0 ? .wholeNumber : .text
    case MYSQL_TYPE_STRING, MYSQL_TYPE_VAR_STRING, MYSQL_TYPE_VARCHAR, MYSQL_TYPE_BLOB, MYSQL_TYPE_TINY_BLOB,
      MYSQL_TYPE_MEDIUM_BLOB, MYSQL_TYPE_LONG_BLOB, MYSQL_TYPE_BIT, MYSQL_TYPE_GEOMETRY:
      unsafe field.charsetnr == binaryCharacterSet ? .bytes : .text
    default: .text  // Dates, times, floating point and JSON, as the server formats them.
    }
  }
}
