package import JSON
package import Purchases
import Signing
import Time

extension PendingLookup {
  /// The JSON for `/v1` and `explain --json`, without the failure, which is for the operator.
  package var json: JSONObject {
    [
      "state": "open", "since": .integer(since.sinceEpoch), "because": .array(because.names.map(JSONValue.string)),
      "message": .string(Digest(bytes: message)?.hex ?? ""),
    ]
  }
}
