import JSON
import Signing
import Simulator
import Time

/// Signed data of any bytes: nothing stops the process, and nothing is accepted that was not signed.
///
/// The first byte chooses what the rest is: a whole JWS, a payload under a good signature, a header or certificates
/// before one, or what is changed in a signature and its digest, of which a key's table says what EVP says.
struct JWSSubject {
  static let now = Timestamp(1_767_225_600_000)
  let pki: ApplePKI
  let verifier: SignedDataVerifier
  let key: PublicKey
  let table: KeyTable?
  /// A good signature and its digest.
  let signed: [UInt8]

  init() throws {
    pki = try ApplePKI.generate(at: Self.now)
    verifier = SignedDataVerifier(roots: TrustedRoots(exactly: [try pki.trustedRoot()]))
    key = try pki.leaf.certificate.publicKey()
    table = KeyTable(point: key.point)
    signed = try pki.signingKey().signature(of: [1]).bytes + Digest.sha256([1]).bytes
  }

  func check(_ input: [UInt8]) throws {
    guard let choice = input.first else { return }
    let rest = Array(input.dropFirst())
    switch choice % 5 {
    case 0:
      // The seeds were signed by keys of another process: whatever is accepted was not signed here.
      if isAccepted(rest) { preconditionFailure("accepted what nobody signed") }
    case 1: _ = isAccepted(try pki.sign(payload: rest))
    case 2: _ = isAccepted(try JWS.sign(headerBytes: rest, payloadBytes: payload, with: pki.signingKey()))
    case 3:
      var forged = pki
      forged.certificates[0] = rest
      if rest != pki.certificates[0], isAccepted(try forged.sign(payload: payload)) {
        preconditionFailure("accepted a leaf that nobody issued")
      }
    default:
      let changed = zip(signed, rest + [UInt8](repeating: 0, count: signed.count)).map { $0 ^ $1 }
      guard let table, let signature = RawSignature(bytes: Array(changed[..<64])),
        let digest = Digest(bytes: Array(changed[64...]))
      else { return }
      if table.accepts(signature, of: digest) != key.verifies(signature, of: digest) {
        preconditionFailure("the table and EVP disagree")
      }
    }
  }

  private func isAccepted(_ jws: [UInt8]) -> Bool {
    do throws(VerificationError) {
      _ = try verifier.verifyAny(jws, expecting: ExpectedClaims(), now: Self.now)
      return true
    } catch {
      _ = error.description
      return false
    }
  }

  private var payload: [UInt8] { Array(#"{"bundleId":"a","environment":"Sandbox","signedDate":1767225600000}"#.utf8) }
}
