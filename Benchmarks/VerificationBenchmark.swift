import COpenSSL
import Glibc
import JSON
import Signing
import Simulator
import Time

/// How near the verification of a notification comes to OpenSSL's three signatures alone, on one core.
///
/// Method: one notification with a transaction and a renewal nested in it, everything warm. The ceiling is
/// `EVP_DigestVerifyInit` and `EVP_DigestVerify` of the same three inputs with keys and DER signatures ready; no base64,
/// no JSON, no certificates. Both are measured in turns, in processor time; the least of the rounds counts, since all
/// disturbance adds.
struct VerificationBenchmark {
  private let notification: [UInt8]
  private let tokens: [[UInt8]]
  private let payloads: [[UInt8]]
  private let verifier: SignedDataVerifier
  private let roots: TrustedRoots
  private let certificate: Certificate
  private let now = Milliseconds(1_767_225_600_000)

  init() throws {
    let pki = try ApplePKI.generate(at: now)
    let transaction = try pki.sign(payload: Array(Self.transaction.utf8))
    let renewal = try pki.sign(payload: Array(Self.renewal.utf8))
    let body = """
      {"notificationType":"DID_RENEW","notificationUUID":"002e14d5-51f5-4503-b5a8-c3a1af68eb20","data":{"appAppleId":\
      1234567890,"bundleId":"com.example.app","bundleVersion":"1.0.3","environment":"Production",\
      "signedTransactionInfo":"\(String(decoding: transaction, as: UTF8.self))",\
      "signedRenewalInfo":"\(String(decoding: renewal, as: UTF8.self))","status":1},"version":"2.0",\
      "signedDate":1767225600000}
      """
    notification = try pki.sign(payload: Array(body.utf8))
    tokens = [notification, transaction, renewal]
    payloads = [Array(body.utf8), Array(Self.transaction.utf8), Array(Self.renewal.utf8)]
    roots = TrustedRoots(exactly: [try pki.trustedRoot()])
    verifier = SignedDataVerifier(roots: roots)
    certificate = pki.leaf.certificate
  }

  func run() throws {
    let expected = ExpectedClaims(
      bundleID: "com.example.app", appAppleID: 1_234_567_890, environment: .only(.production))
    let bare = try BareSignatures(tokens, certificate: certificate)
    var least = (ours: Double.infinity, bare: Double.infinity)
    for _ in 0..<40 {
      least.ours = min(
        least.ours,
        try Self.microseconds(200) { _ = try verifier.verifyNotification(notification, expecting: expected, now: now) })
      least.bare = min(least.bare, Self.microseconds(200) { bare.verify() })
    }
    let cold = try Self.microseconds(50) {
      let verifier = SignedDataVerifier(roots: roots)
      _ = try verifier.verifyNotification(notification, expecting: expected, now: now)
    }
    let base64 = tokens.map { token in Array(token.split(separator: UInt8(ascii: "."))[1]) }
    let decode = Self.microseconds(2_000) { for text in base64 { _ = Base64.url.decode(text) } }
    let json = try Self.microseconds(2_000) { for payload in payloads { _ = try JSONReader.read(payload) } }
    let signing = tokens.map { $0.prefix(upTo: $0.lastIndex(of: UInt8(ascii: ".")) ?? 0) }.map(Array.init)
    let hash = Self.microseconds(2_000) { for input in signing { _ = Digest.sha256(input) } }
    print("notification of \(notification.count) bytes, payloads of \(payloads.map(\.count))")
    print("  three bare EVP_DigestVerify      \(Self.text(least.bare)) µs")
    print("  verifyNotification, all checks   \(Self.text(least.ours)) µs")
    print("  share of the bare speed          \(Self.text(least.bare / least.ours * 100)) %")
    print("  the first one of a new chain     \(Self.text(cold)) µs")
    print("  of which, measured apart: base64url \(Self.text(decode)) µs, JSON \(Self.text(json)) µs;")
    print("  hashing headers and payloads whole would be \(Self.text(hash)) µs")
  }

  private static func text(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }

  private static func microseconds(_ count: Int, _ body: () throws -> Void) rethrows -> Double {
    func spent() -> Double {
      var time = timespec()
      unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
      return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
    }
    let start = spent()
    for _ in 0..<count { try body() }
    return (spent() - start) / Double(count)
  }

  private static let transaction = """
    {"transactionId":"2000000123456790","originalTransactionId":"2000000123456789","webOrderLineItemId":\
    "2000000012345678","bundleId":"com.example.app","productId":"com.example.app.pro.monthly",\
    "subscriptionGroupIdentifier":"20654321","purchaseDate":1767225590000,"originalPurchaseDate":1764633590000,\
    "expiresDate":1769903990000,"quantity":1,"type":"Auto-Renewable Subscription","appAccountToken":\
    "7e3fb204-2d8f-4b4a-9a3e-0c1d1a2b3c4d","inAppOwnershipType":"PURCHASED","signedDate":1767225600000,\
    "environment":"Production","transactionReason":"RENEWAL","storefront":"USA","storefrontId":"143441","price":9990,\
    "currency":"USD","appTransactionId":"704289572311513293"}
    """

  private static let renewal = """
    {"originalTransactionId":"2000000123456789","autoRenewProductId":"com.example.app.pro.monthly","productId":\
    "com.example.app.pro.monthly","autoRenewStatus":1,"renewalPrice":9990,"currency":"USD","signedDate":1767225600000,\
    "environment":"Production","recentSubscriptionStartDate":1764633590000,"renewalDate":1769903990000,\
    "appTransactionId":"704289572311513293"}
    """
}

/// OpenSSL's verification and nothing else: the ceiling.
@safe private final class BareSignatures {
  private let key: OpaquePointer
  private let context: OpaquePointer
  private let inputs: [(message: [UInt8], signature: [UInt8])]

  init(_ tokens: [[UInt8]], certificate: Certificate) throws {
    let der = certificate.der
    let x509: OpaquePointer? = unsafe der.withUnsafeBufferPointer { bytes -> OpaquePointer? in
      var position = bytes.baseAddress
      return unsafe d2i_X509(nil, &position, bytes.count)
    }
    guard let x509 = unsafe x509, let key = unsafe X509_get_pubkey(x509), let context = unsafe EVP_MD_CTX_new() else {
      preconditionFailure("no key to measure with")
    }
    unsafe X509_free(x509)
    unsafe self.key = key
    unsafe self.context = context
    inputs = tokens.map { token in
      let dot = token.lastIndex(of: UInt8(ascii: ".")) ?? 0
      let raw = Base64.url.decode(Array(token[(dot + 1)...])).flatMap(RawSignature.init(bytes:))
      return (Array(token[..<dot]), raw?.der ?? [])
    }
  }

  deinit {
    unsafe EVP_MD_CTX_free(context)
    unsafe EVP_PKEY_free(key)
  }

  func verify() {
    for (message, signature) in inputs {
      unsafe EVP_MD_CTX_reset(context)
      let isReady = unsafe EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key) == 1
      let isGood = unsafe EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
      precondition(isReady && isGood, "a signature that does not verify")
    }
  }
}
