package import Simulator
package import Time

extension ReceiptPKI {
  private static let strange = made { try generate(at: Timestamp(0)) }

  /// As `shared`, where an error would be a defect of the tests.
  package static func known(at instant: Timestamp) -> Self { made { try shared(at: instant) } }

  /// One that no reader of the shared ones trusts: it has the same names and other keys.
  package static func stranger(at instant: Timestamp) -> Self { made { try generate(at: instant, keys: strange) } }

  private static func made(_ body: () throws -> Self) -> Self {
    do { return try body() } catch { preconditionFailure("no receipt PKI: \(error)") }
  }
}
