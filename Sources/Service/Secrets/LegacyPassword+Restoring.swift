import Adapter
import Delivery
import Intake
import JSON
import Ledger
import Signing

extension LegacyPassword {
  /// What puts the secrets back into stored bodies before they are forwarded, from those of the apps in `registry`.
  static func restoring(from registry: Registry, keys: Keyring) -> @Sendable (StoredMessage) throws -> [UInt8] {
    { stored in
      let body = stored.message.body
      guard mayBe(in: body) else { return body }
      // As builds before kept it with what somebody put beside the signed payload.
      if case let plain = ReceivedBody(body).kept.bytes, plain.count < body.count { return plain }
      let secrets = registry.directory.sharedSecrets(of: stored.app, with: keys)
      guard let restored = restored(body, secrets: secrets, keys: keys) else {
        let code = (try? JSONReader.read(body, limits: .stored).object).flatMap(code(in:))
        let holders = code.map(registry.directory.apps(withSecret:)) ?? []
        if !holders.isEmpty, !holders.contains(where: { $0.id == stored.app }) { throw Delivery.SecretOfAnotherApp() }
        throw Sealed()
      }
      return restored.body
    }
  }

  /// A secret was taken out of the body, and it is none of the app's that are here, or nothing is left to read: it must
  /// not be sent as if it were whole.
  struct Sealed: Error {}
}
