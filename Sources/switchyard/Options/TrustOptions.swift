import Adapter
import Runtime
import Signing

/// Whom a service, a rebuild or a replay believes: Apple's root, and what the operator adds in so many words.
struct TrustOptions: Sendable {
  static let options: [Option] = [
    .value("trust-root", "FILE", repeats: true, "Trust these roots too, beside Apple's (DER or PEM)."),
    .value(
      "trust-root-for", "ENVIRONMENT", choices: AppStoreEnvironment.allCases.map(\.rawValue),
      default: AppStoreEnvironment.sandbox.rawValue, "The environment in which --trust-root counts."),
    .flag(
      acknowledgement, "Needed to trust a root for Production: whoever holds its key can make purchases that count."),
  ]

  private static let acknowledgement = "i-know-this-root-can-make-purchases-count"
  private static let limit = 1 << 20

  /// Every certificate that is trusted beside Apple's, with where.
  let added: [RootCertificate]
  let environment: AppStoreEnvironment
  let roots: TrustedRoots

  init(_ arguments: ParsedArguments) throws {
    environment = try arguments.choice("trust-root-for") ?? .sandbox
    var added: [RootCertificate] = []
    for file in arguments.values("trust-root") { added += try Self.read(file) }
    self.added = added
    let isAcknowledged = arguments.flag(Self.acknowledgement)
    switch environment {
    case .production where added.isEmpty: roots = .apple
    case .production where !isAcknowledged:
      throw UsageError(
        .missingOption,
        "A root trusted for Production can make purchases that count as paid; say --\(Self.acknowledgement) as well.",
        path: arguments.path)
    case .production: roots = TrustedRoots(appleAndAlsoTrustedForProduction: added)
    case .sandbox: roots = .apple.adding(added, for: .sandbox)
    case .xcode: roots = .apple.adding(added, for: .xcode)
    case .localTesting: roots = .apple.adding(added, for: .localTesting)
    }
  }

  /// Reads what comes in with today's roots.
  var adapter: Adapter { adapter(revocations: nil) }

  /// The same, which looks up what is known of the certificates.
  func adapter(revocations: Revocations?) -> Adapter {
    Adapter(verifier: SignedDataVerifier(roots: roots, revocations: revocations))
  }

  /// The roots of a file; an error that names it.
  static func read(_ file: String) throws -> [RootCertificate] {
    let bytes = try Input.read(file, limit: limit)
    do throws(CertificateError) { return try RootCertificate.read(bytes) } catch {
      throw RootFileError(file: file, reason: "\(error)")
    }
  }
}

/// A file given as a root that holds none.
struct RootFileError: ExitStatusError, CustomStringConvertible {
  let file: String
  let reason: String

  var exitStatus: ExitStatus { .failed }
  var description: String { "no root certificate can be read from \(file): \(reason)" }
}
