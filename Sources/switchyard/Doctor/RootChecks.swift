import Runtime
import Signing
import Time

struct RootChecks {
  let all: [Check]

  private static let soon: Int64 = 180

  init(_ trust: TrustOptions, now: Timestamp) {
    let apple = Self.check(.appleG3, "Apple Root CA - G3, built in", "use a newer build of switchyard", now)
    let added = trust.added.map { one in
      Self.check(
        one.root, "\(one.root.certificate.fingerprint.hex.prefix(16))… for \(one.environment.rawValue)",
        "replace \(one.file)", now)
    }
    let forProduction = trust.added.count { $0.environment == .production }
    let production: [Check] =
      forProduction > 0
      ? [
        .warn(
          "root", "\(forProduction) in addition to Apple's may make purchases that count as paid",
          "remove --trust-root Production=FILE unless you know why it is there")
      ] : []
    all = [apple] + added + production
  }

  private static func check(_ root: RootCertificate, _ name: String, _ remedy: String, _ now: Timestamp) -> Check {
    let validity = root.certificate.validity
    let days = (validity.upperBound - now.wholeSeconds) / 86_400
    let until = "\(name), valid until \(Timestamp(validity.upperBound * 1_000).iso8601) (\(days) days)"
    if !validity.contains(now.wholeSeconds) { return .fail("root", until, remedy) }
    return days < soon ? .warn("root", until, remedy) : .ok("root", until)
  }
}
