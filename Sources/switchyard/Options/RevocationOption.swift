import Runtime
import Signing

/// What holds while nobody can say whether a certificate of Apple's was revoked.
enum RevocationOption {
  static let option = Option.value(
    "ocsp", "POLICY", choices: RevocationPolicy.allCases.map(\.rawValue), default: RevocationPolicy.prefer.rawValue,
    environment: "SWITCHYARD_OCSP",
    "While no responder has vouched for a certificate: require sets messages aside, prefer accepts, off asks nobody.")

  static func policy(_ arguments: ParsedArguments) throws -> RevocationPolicy {
    try arguments.choice("ocsp") ?? .prefer
  }
}
