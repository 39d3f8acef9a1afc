package import Purchases
package import Time
package import Wire

/// A message understood: whose it is, what it teaches, and what in it was new to this build.
package struct Reading: Sendable {
  package let app: String
  /// Apple's number for the app, where the message gives one.
  package let appAppleID: Int64?
  package let environment: Environment
  /// When the outermost signature was made.
  package let signedAt: Milliseconds?
  /// What to call it in lists: "DID_RENEW/BILLING_RECOVERY", "history of 20".
  package let title: String
  package var findings: Findings
  package let survey: Survey
  /// What vouches for it.
  package var trust: Adapter.Trust = .signature
}
