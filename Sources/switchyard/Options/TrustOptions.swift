import Adapter
import Receipts
import Runtime
import Signing

/// The trust of a service, a rebuild or a replay: Apple's roots, and roots that the operator adds.
///
/// A root applies to signed data and receipts, only in the environments for which it was named. A sandbox root verifies
/// nothing of Production.
struct TrustOptions: Sendable {
  static let options: [Option] = [
    .value(
      "trust-root", "[ENVIRONMENT=]FILE", repeats: true, environment: "SWITCHYARD_TRUST_ROOT",
      formerly: "trust-root-for",
      """
      Trust the roots of FILE (DER or PEM) in addition to Apple's, only in this environment: \(environments); without one in \
      the sandbox.
      """),
    .flag(
      acknowledgement, "Needed to trust a root for Production: the holder of its key can make purchases that count."),
  ]

  private static let environments = AppStoreEnvironment.allCases.map(\.rawValue).joined(separator: ", ")
  private static let acknowledgement = "i-know-this-root-can-make-purchases-count"
  private static let limit = 1 << 20

  struct AddedRoot: Sendable {
    let root: RootCertificate
    let environment: AppStoreEnvironment
    let file: String
  }

  /// The added roots, in the order of the command line.
  let added: [AddedRoot]
  let roots: TrustedRoots
  let receipts: ReceiptTrust

  init(_ arguments: ParsedArguments) throws {
    let values = arguments.values("trust-root")
    // A lone environment applies to all files without one.
    let alone = values.compactMap(Self.environment)
    let files = values.filter { Self.environment($0) == nil }.flatMap { text -> [(AppStoreEnvironment, String)] in
      let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      if parts.count == 2, let environment = Self.environment(parts[0]) { return [(environment, parts[1])] }
      return (alone.isEmpty ? [.sandbox] : alone).map { ($0, text) }
    }
    var added: [AddedRoot] = []
    for (environment, file) in files {
      added += try Self.read(file).map { AddedRoot(root: $0, environment: environment, file: file) }
    }
    if added.contains(where: { $0.environment == .production }), !arguments.flag(Self.acknowledgement) {
      throw UsageError(
        .missingOption,
        "A root trusted for Production can make purchases that count as paid; say --\(Self.acknowledgement) as well.",
        path: arguments.path)
    }
    self.added = added
    (roots, receipts) = Self.trust(added)
  }

  private static func environment(_ name: String) -> AppStoreEnvironment? {
    AppStoreEnvironment.allCases.first { $0.rawValue.lowercased() == name.lowercased() }
  }

  /// Returns the trust options for another command line, such as ` --trust-root root.der`; empty without any.
  static func given(_ arguments: ParsedArguments) -> String {
    arguments.again(["trust-root"]) + (arguments.flag(acknowledgement) ? " --\(acknowledgement)" : "")
  }

  /// Returns the options that add a further root for an environment to this command line.
  static func missing(for environment: AppStoreEnvironment, _ arguments: ParsedArguments) -> String {
    let isAcknowledged = environment != .production || arguments.flag(acknowledgement)
    return " --trust-root \(environment == .sandbox ? "" : "\(environment.rawValue)=")FILE"
      + (isAcknowledged ? "" : " --\(acknowledgement)")
  }

  private static func trust(_ added: [AddedRoot]) -> (TrustedRoots, ReceiptTrust) {
    let roots = Dictionary(grouping: added, by: \.environment).mapValues { $0.map(\.root) }
    let forProduction = roots[.production] ?? []
    var signed = forProduction.isEmpty ? .apple : TrustedRoots(appleAndAlsoTrustedForProduction: forProduction)
    var receipts = ReceiptTrust.apple.addingAlsoForProduction(forProduction)
    for (environment, test) in [
      (AppStoreEnvironment.sandbox, TrustedRoots.TestEnvironment.sandbox), (.xcode, .xcode),
      (.localTesting, .localTesting),
    ] {
      signed = signed.adding(roots[environment] ?? [], for: test)
      receipts = receipts.adding(roots[environment] ?? [], for: test)
    }
    return (signed, receipts)
  }

  var adapter: MessageDecoder { adapter(revocations: nil) }

  func adapter(revocations: RevocationCache?) -> MessageDecoder {
    MessageDecoder(
      verifier: SignedDataVerifier(roots: roots, revocations: revocations), receipts: ReceiptReader(trust: receipts))
  }

  /// Logs every root that is trusted in addition to Apple's.
  func warn(_ logger: Logger) {
    for one in added {
      logger.warning(
        "extra root trusted",
        metadata: [
          "environment": "\(one.environment.rawValue)", "fingerprint": "\(one.root.certificate.fingerprint.hex)",
          "file": "\(one.file)",
        ])
    }
  }

  /// Reads the roots of a file; an error names it.
  static func read(_ file: String) throws -> [RootCertificate] {
    let bytes = try Input.read(file, limit: limit)
    do throws(CertificateError) { return try RootCertificate.read(bytes) } catch {
      throw RootFileError(file: file, reason: "\(error)")
    }
  }
}

struct RootFileError: ExitStatusError, CustomStringConvertible {
  let file: String
  let reason: String

  var exitStatus: ExitStatus { .failed }
  var description: String { "no root certificate can be read from \(file): \(reason)" }
}
