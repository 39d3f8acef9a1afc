import Runtime
import Signing

/// `--ocsp`: whether Apple's responders are asked about revoked certificates.
enum RevocationOption {
  static let option = Option.value(
    "ocsp", "on|off", default: "on", environment: "SWITCHYARD_OCSP",
    "Ask Apple's OCSP responders twice a day whether its certificates were revoked.")

  /// Returns the cache; `nil` for `off`.
  static func revocations(_ arguments: ParsedArguments) throws(UsageError) -> RevocationCache? {
    switch arguments.value("ocsp") {
    // An earlier name of `on`.
    case "on", "prefer", nil: RevocationCache()
    case "off": nil
    case let word?:
      throw UsageError(.invalidValue, "--ocsp is on or off, not \"\(word)\".", path: arguments.path)
    }
  }
}
