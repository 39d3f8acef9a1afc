import JSON
import Signing
import Time

/// Verifies a `signedTransactionInfo` below Apple's root: its payload, or an error with the reason.
func verifyTransaction(_ jws: String, now: Timestamp) throws(VerificationError) -> JSONObject {
  let verifier = SignedDataVerifier(roots: .apple)
  let expected = ExpectedClaims(bundleID: "com.example.notes", environment: .only(.production))
  return try verifier.verifyTransaction(Array(jws.utf8), expecting: expected, now: now).payload
}
