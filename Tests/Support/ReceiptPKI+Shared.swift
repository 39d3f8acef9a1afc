package import Simulator
package import Time

extension ReceiptPKI {
  // For the whole process: to make RSA keys takes a good part of a second.
  private static let known = made(at: Milliseconds(0))
  private static let strange = made(at: Milliseconds(0))

  /// A PKI with certificates as of `instant`, and the same keys as all other shared ones.
  package static func shared(at instant: Milliseconds) -> Self { made(at: instant, with: known) }

  /// One that no reader of the shared ones trusts: it has the same names and other keys.
  package static func stranger(at instant: Milliseconds) -> Self { made(at: instant, with: strange) }

  private static func made(at instant: Milliseconds, with keys: Self? = nil) -> Self {
    let blueprint = Blueprint(at: instant)
    do {
      guard let keys else { return try generate(at: instant) }
      return try generate(below: .root(blueprint.root, key: keys.root.key), blueprint, keys: keys)
    } catch { preconditionFailure("no receipt PKI: \(error)") }
  }
}
