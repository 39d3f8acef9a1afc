/// The trusted root certificates of signed data, for each environment.
public struct TrustedRoots: Sendable {
  private var roots: [AppStoreEnvironment: [RootCertificate]]

  /// Apple Root CA - G3 for Production and Sandbox; no root for Xcode and LocalTesting, which Apple does not sign.
  public static let apple = Self(roots: [.production: [.appleG3], .sandbox: [.appleG3]])

  /// An environment for which the operator may add a root.
  public enum TestEnvironment: Sendable, CaseIterable {
    case sandbox, xcode, localTesting

    var environment: AppStoreEnvironment {
      switch self {
      case .sandbox: .sandbox
      case .xcode: .xcode
      case .localTesting: .localTesting
      }
    }
  }

  private init(roots: [AppStoreEnvironment: [RootCertificate]]) { self.roots = roots }

  /// Trusts these roots instead of Apple's, in every environment: for tests and the simulator.
  public init(exactly roots: [RootCertificate]) {
    self.init(roots: Dictionary(uniqueKeysWithValues: AppStoreEnvironment.allCases.map { ($0, roots) }))
  }

  /// Trusts Apple's roots, and these *also for Production*: a holder of their keys can make purchases that count as
  /// paid.
  public init(appleAndAlsoTrustedForProduction roots: [RootCertificate]) {
    self = .apple
    self.roots[.production, default: []] += roots
  }

  /// Returns the trust with `roots` added in a test environment.
  public func adding(_ roots: [RootCertificate], for environment: TestEnvironment) -> Self {
    var all = self
    all.roots[environment.environment, default: []] += roots
    return all
  }

  /// Returns the roots for `environment`; empty without any.
  public func roots(for environment: AppStoreEnvironment) -> [RootCertificate] { roots[environment] ?? [] }
}

/// A certificate that may end a chain: self-signed, and allowed to issue others.
public struct RootCertificate: Hashable, Sendable {
  public let certificate: Certificate

  package init(_ certificate: Certificate) throws(CertificateError) {
    guard certificate.isAuthority, certificate.isSelfSigned else {
      throw CertificateError(.notARoot, "certificate \(certificate.fingerprint.hex) is not self-signed or no authority")
    }
    self.certificate = certificate
  }

  /// Reads every certificate of a file: PEM with one or more blocks, or one DER.
  public static func read(_ bytes: [UInt8]) throws(CertificateError) -> [Self] {
    guard let blocks = PEM.blocks("CERTIFICATE", in: bytes) else {
      throw CertificateError(.malformed, "a PEM block that does not end or is not base64")
    }
    var roots: [Self] = []
    for der in blocks.isEmpty ? [bytes] : blocks { roots.append(try Self(Certificate(der: der))) }
    return roots
  }

  /// Apple Root CA - G3; the process stops if the built-in bytes do not have the pinned fingerprint.
  public static let appleG3: Self = {
    do throws(CertificateError) {
      let der = Base64.standard.decode(Array(AppleRootCAG3.base64.utf8)) ?? []
      let root = try Self(Certificate(der: der))
      precondition(root.certificate.fingerprint.hex == AppleRootCAG3.fingerprint, "not Apple Root CA - G3")
      return root
    } catch {
      preconditionFailure("Apple Root CA - G3 cannot be read: \(error)")
    }
  }()

  public static func == (a: Self, b: Self) -> Bool { a.certificate.fingerprint == b.certificate.fingerprint }

  public func hash(into hasher: inout Hasher) { hasher.combine(certificate.fingerprint) }
}
