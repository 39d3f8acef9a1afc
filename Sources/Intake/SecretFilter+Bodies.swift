package import Adapter
import JSON
package import Ledger

/// What is written of a message in clear may hold no shared secret: its body is sealed, facts and reasons are not.
extension SecretFilter {
  /// Whether a registered secret stands anywhere in a V1 body but where Apple writes it: it could become a fact.
  func isRepeated(in body: JSONObject) -> Bool {
    body.members.contains { isHeld(by: $0.key) || $0.key != "password" && isHeld(by: $0.value) }
  }

  private func isHeld(by value: JSONValue) -> Bool {
    switch value {
    case .object(let object): object.members.contains { isHeld(by: $0.key) || isHeld(by: $0.value) }
    case .array(let values): values.contains(where: isHeld)
    case .string(let text): isHeld(by: text)
    case .null, .bool, .integer, .number: false
    }
  }

  /// Whether a registered secret stands in a text.
  package func isHeld(by text: String) -> Bool {
    text.utf8.count >= Self.digits && !spares(text) && isFound(in: Array(text.utf8))
  }
}

extension Refusal {
  /// Returns the refusal as it may be kept, logged and answered: what it quotes of the message may be a secret.
  package func withoutSecrets(_ secrets: SecretFilter) -> Refusal {
    var refusal = self
    refusal.detail = secrets.redacted(detail)
    refusal.claimedApp = claimedApp.map(secrets.redacted)
    return refusal
  }
}
