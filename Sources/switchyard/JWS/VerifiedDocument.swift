import JSON
import Signing
import Time
import Wire

struct VerifiedDocument {
  private let kind: PayloadKind
  private let main: Verified<JSONObject>
  /// The parts of a notification, with a member for each kind even if it is missing.
  private let inside: [(name: PayloadKind, verified: Verified<JSONObject>?)]
  let environment: AppStoreEnvironment?
  private let survey: UndocumentedContent

  init(_ payload: VerifiedPayload) {
    var survey: UndocumentedContent
    switch payload {
    case .notification(let all):
      (kind, main, environment) = (.notification, all.notification, all.environment)
      inside = [(.transaction, all.transaction), (.renewal, all.renewal), (.appTransaction, all.appTransaction)]
      survey = NotificationPayload(main.payload).survey()
      if let transaction = all.transaction { survey.add(TransactionPayload(transaction.payload).survey()) }
      if let renewal = all.renewal { survey.add(RenewalPayload(renewal.payload).survey()) }
      if let app = all.appTransaction { survey.add(AppTransactionPayload(app.payload).survey()) }
    case .transaction(let verified):
      (kind, main, environment, inside) = (.transaction, verified, verified.environment, [])
      survey = TransactionPayload(main.payload).survey()
    case .renewal(let verified):
      (kind, main, environment, inside) = (.renewal, verified, verified.environment, [])
      survey = RenewalPayload(main.payload).survey()
    case .appTransaction(let verified):
      (kind, main, environment, inside) = (.appTransaction, verified, verified.environment, [])
      survey = AppTransactionPayload(main.payload).survey()
    case .realtimeRequest(let verified):
      (kind, main, environment, inside) = (.realtimeRequest, verified, verified.environment, [])
      survey = UndocumentedContent()
    }
    self.survey = survey
  }

  /// `kind`, `payload`, the parts of a notification, then the proof and the members unknown to this build.
  var json: JSONObject {
    var object: JSONObject = ["kind": .string(kind.rawValue), "payload": .object(main.payload)]
    for (name, verified) in inside { object[name.rawValue] = verified.map { .object($0.payload) } ?? .null }
    object["environment"] = JSONValue(environment?.rawValue)
    object["signedAt"] = JSONValue(main.signedAt?.sinceEpoch)
    switch main.trust {
    case .chain(let root, let leaf, let serialNumber):
      object["root"] = .string(root.hex)
      object["leaf"] = .string(leaf.hex)
      object["leafSerialNumber"] = .string(serialNumber)
    case .unsignedTestData: object["unsignedTestData"] = true
    }
    if !survey.isClean {
      object["survey"] = [
        "unknownFields": .array(survey.unknownFields.map(JSONValue.string)),
        "unusableFields": .array(survey.unusableFields.map(JSONValue.string)),
        "unknownValues": .array(survey.unknownValues.map(JSONValue.string)),
      ]
    }
    return object
  }

  /// The text for people: the kind, the proof, then every member.
  var text: String {
    var lines = [headline]
    switch main.trust {
    case .chain(let root, _, let serialNumber):
      let name = root == RootCertificate.appleG3.certificate.fingerprint ? "Apple Root CA - G3" : "root \(root.hex)"
      lines.append("  signed by \(name), leaf \(serialNumber)")
    case .unsignedTestData: lines.append("  UNVERIFIED: unsigned test data, accepted because of --allow-unsigned")
    }
    lines += Self.members(main.payload, indent: "  ")
    for case (let name, let verified?) in inside {
      lines.append("  \(name.rawValue)")
      lines += Self.members(verified.payload, indent: "    ")
    }
    for (what, fields) in [
      ("fields", survey.unknownFields), ("types", survey.unusableFields), ("values", survey.unknownValues),
    ] where !fields.isEmpty {
      lines.append("  \(what) not known to this build: \(fields.joined(separator: ", "))")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private var headline: String {
    let signed = main.signedAt.map { " signed \($0.iso8601)" } ?? ""
    return "VERIFIED \(kind.rawValue) of \(environment?.rawValue ?? "an unnamed environment")\(signed)"
  }

  /// Returns one line a member; a JWS is shown as its length, since its content is shown decoded.
  private static func members(_ object: JSONObject, indent: String) -> [String] {
    object.flatMap { member -> [String] in
      switch member.value {
      case .object(let inner):
        return ["\(indent)\(plain(member.key))"] + members(inner, indent: indent + "  ")
      case .string(let text) where member.key.hasPrefix("signed") && text.utf8.count > 200:
        return ["\(indent)\(plain(member.key)): (JWS of \(text.utf8.count) bytes)"]
      case .integer(let number) where member.key.hasSuffix("Date"):
        return ["\(indent)\(plain(member.key)): \(number) (\(Timestamp(number).iso8601))"]
      case .null, .bool, .integer, .number, .string, .array:
        return ["\(indent)\(plain(member.key)): \(String(decoding: member.value.encoded(), as: UTF8.self))"]
      }
    }
  }

  /// Returns an untrusted key in JSON escapes: no control character reaches the terminal.
  private static func plain(_ key: String) -> String {
    let quoted = String(decoding: JSONValue.string(key).encoded(), as: UTF8.self)
    return quoted == "\"\(key)\"" ? key : quoted
  }
}
