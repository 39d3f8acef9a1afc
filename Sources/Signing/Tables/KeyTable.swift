import COpenSSL
import Synchronization

/// The multiples of one P-256 key, made once (28-40 ms, 150 KB), for verification in less than half of EVP's time.
///
/// EVP knows nothing about a key. Here the key is the generator of a separate group, for which OpenSSL makes the same
/// table as for the curve's generator.
///
/// `@unchecked Sendable` because the group and its table are only read after `init`. OpenSSL writes to the given point
/// and context, and those belong to one caller at a time, which removes them from the idle ones.
@safe package final class KeyTable: @unchecked Sendable {
  private let multiples: OpaquePointer
  private let idle = Mutex<[VerificationScratch]>([])
  /// The stored ones; more may exist while that many threads verify in parallel.
  private static let idleLimit = 16

  /// - Parameter point: the key in X9.62 form.
  ///
  /// Returns `nil` for bytes that are not a nonzero point of P-256, and if OpenSSL makes no tables.
  package init?(point: [UInt8]) {
    let curve = Curve.p256
    guard let group = unsafe EC_GROUP_dup(curve.group) else { return nil }
    guard let key = unsafe EC_POINT_new(group), let context = unsafe BN_CTX_new() else {
      preconditionFailure("no memory for a table")
    }
    defer {
      unsafe EC_POINT_free(key)
      unsafe BN_CTX_free(context)
      _ = OpenSSLFailure.drain()
    }
    guard unsafe EC_POINT_oct2point(group, key, point, point.count, context) == 1,
      unsafe EC_POINT_is_at_infinity(group, key) == 0,
      unsafe EC_GROUP_set_generator(group, key, curve.order, BN_value_one()) == 1,
      unsafe shim_point_table_make(group, context) == 1
    else {
      unsafe EC_GROUP_free(group)
      return nil
    }
    unsafe multiples = group
  }

  deinit { unsafe EC_GROUP_free(multiples) }

  /// Whether the key's private half signed `digest`.
  package func accepts(_ signature: RawSignature, of digest: Digest) -> Bool {
    let reckoning = idle.withLock { $0.popLast() } ?? VerificationScratch()
    defer { idle.withLock { if $0.count < Self.idleLimit { $0.append(reckoning) } } }
    return unsafe reckoning.accepts(signature, of: digest, multiples)
  }
}

/// The memory of one verification: numbers and two points.
///
/// `@unchecked Sendable` because it travels between threads only through the mutex of its table.
@safe private final class VerificationScratch: @unchecked Sendable {
  private let context: OpaquePointer
  private let point: OpaquePointer
  private let other: OpaquePointer

  init() {
    let group = unsafe Curve.p256.group
    guard let context = unsafe BN_CTX_new(), let point = unsafe EC_POINT_new(group),
      let other = unsafe EC_POINT_new(group)
    else { preconditionFailure("no memory to verify") }
    unsafe self.context = context
    unsafe self.point = point
    unsafe self.other = other
  }

  deinit {
    unsafe EC_POINT_free(other)
    unsafe EC_POINT_free(point)
    unsafe BN_CTX_free(context)
  }

  /// Verifies by SEC 1 version 2, section 4.1.4, step by step; any failure of OpenSSL counts as rejection.
  func accepts(_ signature: RawSignature, of digest: Digest, _ multiples: OpaquePointer) -> Bool {
    unsafe BN_CTX_start(context)
    defer { unsafe BN_CTX_end(context) }
    guard let r = unsafe BN_CTX_get(context), let s = unsafe BN_CTX_get(context), let e = unsafe BN_CTX_get(context)
    else { return failed() }
    // 1. r and s are numbers from 1 to n - 1.
    let isRead = unsafe signature.bytes.withUnsafeBufferPointer { bytes in
      guard let r32 = bytes.baseAddress else { return false }
      return unsafe BN_bin2bn(r32, 32, r) != nil && BN_bin2bn(r32 + 32, 32, s) != nil
    }
    guard isRead, unsafe isMultiplier(r), unsafe isMultiplier(s) else { return false }
    // 3. e is the digest, which has as many bits as n.
    let isTaken = unsafe withUnsafeBytes(of: digest.words) { digest in
      unsafe BN_bin2bn(digest.assumingMemoryBound(to: UInt8.self).baseAddress, 32, e) != nil
    }
    let inverse = Inverse(of: signature.bytes[32...])
    guard isTaken, unsafe multiply(e, r, dividedBy: s, inverse, multiples) else { return failed() }
    // 6. The point at infinity has no x.
    if unsafe EC_POINT_is_at_infinity(Curve.p256.group, point) == 1 { return false }
    return unsafe hasCoordinate(r)
  }

  private func isMultiplier(_ number: OpaquePointer) -> Bool {
    unsafe BN_is_zero(number) == 0 && BN_cmp(number, Curve.p256.order) < 0
  }

  /// Computes e/s · G + r/s · Q, both by tables (4 and 5).
  private func multiply(
    _ e: OpaquePointer, _ r: OpaquePointer, dividedBy s: OpaquePointer, _ inverse: Inverse, _ multiples: OpaquePointer
  ) -> Bool {
    let curve = Curve.p256
    guard let w = unsafe BN_CTX_get(context), let u1 = unsafe BN_CTX_get(context),
      let u2 = unsafe BN_CTX_get(context), unsafe BN_bin2bn(inverse.bytes, 32, w) != nil,
      // One multiplication proves the locally computed inverse.
      unsafe BN_mod_mul(u1, s, w, curve.order, context) == 1, unsafe BN_is_one(u1) == 1
    else { return false }
    return unsafe BN_mod_mul(u1, e, w, curve.order, context) == 1
      && BN_mod_mul(u2, r, w, curve.order, context) == 1
      && EC_POINT_mul(curve.group, point, u1, nil, nil, context) == 1
      && EC_POINT_mul(multiples, other, u2, nil, nil, context) == 1
      && EC_POINT_add(curve.group, point, point, other, context) == 1
  }

  /// Whether the point's x, modulo n, is r (7 and 8).
  ///
  /// x is X / Z², and division is slow: X is compared with r · Z². As n is less than p, x may be r + n too.
  private func hasCoordinate(_ r: OpaquePointer) -> Bool {
    let curve = Curve.p256
    guard let x = unsafe BN_CTX_get(context), let z = unsafe BN_CTX_get(context),
      let product = unsafe BN_CTX_get(context),
      unsafe shim_point_projective(curve.group, point, x, z, context) == 1,
      unsafe BN_mod_sqr(z, z, curve.field, context) == 1,
      unsafe BN_mod_mul(product, r, z, curve.field, context) == 1
    else { return failed() }
    if unsafe BN_cmp(product, x) == 0 { return true }
    guard unsafe BN_add(r, r, curve.order) == 1 else { return failed() }
    guard unsafe BN_cmp(r, curve.field) < 0 else { return false }
    guard unsafe BN_mod_mul(product, r, z, curve.field, context) == 1 else { return failed() }
    return unsafe BN_cmp(product, x) == 0
  }

  private func failed() -> Bool {
    ERR_clear_error()
    return false
  }
}
