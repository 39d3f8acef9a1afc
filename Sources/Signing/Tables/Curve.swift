import COpenSSL

/// The curve P-256 of OpenSSL: its group, and the two primes of its arithmetic.
///
/// `@unchecked Sendable` because nothing of it is changed after `init`.
@safe final class Curve: @unchecked Sendable {
  static let p256 = Curve()

  let group: OpaquePointer
  /// n, the number of points; multiples of points are counted modulo n.
  let order: OpaquePointer
  /// p, a little more than n; coordinates are numbers modulo p.
  let field: OpaquePointer

  private init() {
    guard let group = unsafe EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1),
      let order = unsafe EC_GROUP_get0_order(group), let field = unsafe BN_new(),
      unsafe EC_GROUP_get_curve(group, field, nil, nil, nil) == 1
    else { preconditionFailure("P-256 is not available: \(OpenSSLFailure.drain())") }
    unsafe self.group = group
    unsafe self.order = order
    unsafe self.field = field
  }
}
