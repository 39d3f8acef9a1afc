package import Adapter
import JSON
package import Ledger

/// Bodies are sealed; facts and reasons are stored in clear, so they must not hold a shared secret.
extension SecretFilter {
  /// Whether a V1 body has a registered secret outside `password`: that secret could become a fact.
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

  /// Whether a text contains a registered secret.
  package func isHeld(by text: String) -> Bool {
    text.utf8.count >= Self.digits && !spares(text) && isFound(in: Array(text.utf8))
  }
}

extension MessageError {
  /// Returns the refusal without secrets, to be stored, logged and answered: it may quote the message.
  package func withoutSecrets(_ secrets: SecretFilter) -> MessageError {
    var refusal = self
    refusal.detail = secrets.redacted(detail)
    refusal.claimedApp = claimedApp.map(secrets.redacted)
    return refusal
  }
}
