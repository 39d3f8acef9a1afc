import Adapter
package import Backfill
package import Intake
import JSON
package import Ledger
package import Purchases
import Receipts
import Signing
package import Time

/// Decides what becomes of a row: what is written for it, or why it is rejected.
///
/// It asks nobody and writes nothing: the same row comes to the same thing whenever it is judged, so that a row that is read
/// again after a crash changes nothing.
package struct RowClassifier: Sendable {
  /// What an operator said of all rows.
  package struct JobDefaults: Sendable {
    /// Whose they are; nil: each says it itself.
    package var app: App?
    /// Of what does not say its environment.
    package var environment: Environment?
    /// As of when they count: of the job, so that a row counts alike whenever it is read.
    package var receivedAt: Timestamp

    package init(app: App?, environment: Environment?, receivedAt: Timestamp) {
      (self.app, self.environment, self.receivedAt) = (app, environment, receivedAt)
    }
  }

  /// What is to be written, before it is known where the row is.
  package enum RowOutcome: Sendable {
    case content(MigrationStep.Content)
    case rejected(RejectReason, MigrationAccountTable.CountScope)
  }

  let intake: IngestDecider
  let directory: AppRegistrySnapshot
  let claims: JobDefaults

  package init(intake: IngestDecider, directory: AppRegistrySnapshot, claims: JobDefaults) {
    self.intake = intake
    self.directory = directory
    self.claims = claims
  }

  static let nobody = MigrationAccountTable.CountScope(app: nil, environment: nil)

  /// - Parameter format: of the block that the row is in.
  package func verdict(on row: Row, format: RowFormat) -> RowOutcome {
    let userID = row.userID.map { String(decoding: $0, as: UTF8.self) }
    if let userID, namesSecret(userID) { return .rejected(RejectReason(word: "userIdIsSecret"), Self.nobody) }
    return verdict(RowMetadata(row, userID: userID)) { () throws(RejectReason) in try Self.artefact(of: row, format) }
  }

  /// The same of a row of a database's table.
  package func verdict(on row: TableRow) -> RowOutcome {
    let userID = row.userID.flatMap { UserID.isNobody($0) ? nil : $0 }
    if let userID, namesSecret(userID) { return .rejected(RejectReason(word: "userIdIsSecret"), Self.nobody) }
    return verdict(RowMetadata(app: row.app, userID: userID, id: row.id)) { () throws(RejectReason) in
      if row.isTooLarge { throw RejectReason(.tooLarge) }
      return try DetectedContent((row.content ?? [])[...])
    }
  }

  private func verdict(_ row: RowMetadata, on artefact: () throws(RejectReason) -> DetectedContent) -> RowOutcome {
    do throws(RejectReason) { return verdict(on: try artefact(), row) } catch {
      return asking(by: row.id, [:], row, unlessUsable: .rejected(error, Self.nobody))
    }
  }

  /// A row's artefact: its receipt column, or the whole object.
  private static func artefact(of row: Row, _ format: RowFormat) throws(RejectReason) -> DetectedContent {
    let isObject = row.isWhole && row.raw.first { $0 > 0x20 } == UInt8(ascii: "{")
    switch format {
    case .jsonLines, .jsonArray:
      if isObject, !row.holdsReceipt, let inner = row.object.flatMap(DetectedContent.message(in:)) {
        return try DetectedContent(inner, inner.encoded())
      }
      if isObject, !row.holdsNamedReceipt, let object = row.object, DetectedContent.isMessage(object) {
        return try DetectedContent(object, Array(row.raw))
      }
      if isObject, case .rejected(let reason) = row.content, reason == RejectReason(.empty), let object = row.object {
        let nested = SignedMember.all(in: object).isEmpty ? object.nestedReceipt : nil
        return try DetectedContent(nested ?? object, Array(row.raw))
      }
    case .csv, .receiptLines, .wholeFile: break
    }
    switch row.content {
    case .receipt(let text): return try DetectedContent(text)
    case .rejected(let reason): throw reason
    }
  }

  /// What a row says beside its artefact.
  struct RowMetadata {
    /// Nil for a name that is not Apple's.
    let bundleID: String?
    let userID: String?
    /// By which Apple is asked if the artefact is of no use.
    let id: String?

    /// - Parameter app: by whatever name the table knows it.
    init(app: String?, userID: String?, id: String?) {
      bundleID = app.flatMap { Row.isBundleID($0) ? $0 : nil }
      self.userID = userID
      self.id = id
    }

    private init(bundleID: String?, id: String?) { (self.bundleID, userID, self.id) = (bundleID, nil, id) }

    var withoutUser: Self { Self(bundleID: bundleID, id: id) }

    init(_ row: Row, userID: String?) {
      bundleID = row.app.flatMap { row.namesBundleID ? String(decoding: $0, as: UTF8.self) : nil }
      self.userID = userID
      id = row.id.map { String(decoding: $0, as: UTF8.self) }
    }
  }

  private func verdict(on artefact: DetectedContent, _ row: RowMetadata) -> RowOutcome {
    switch artefact {
    case .receipt(let text): return asking(by: row.id, [:], row, unlessUsable: receipt(text, row))
    case .signed(let members, let object):
      let verdicts = members.prefix(Self.mostMembers).map { member in
        switch member.kind {
        case .receipt: receipt(member.text, row)
        case .jws: message(member.text, claimed: UnverifiedAppID.bundleID(ofJWS: member.text), row)
        }
      }
      let usable = verdicts.filter(\.isUsable)
      if let first = usable.first { return usable.dropFirst().reduce(first) { $0.joined(with: $1) } }
      let rejected = verdicts.first ?? .rejected(RejectReason(.empty), Self.nobody)
      return asking(by: DetectedContent.id(in: object) ?? row.id, object, row, unlessUsable: rejected)
    case .jws(let jws): return message(jws, claimed: UnverifiedAppID.bundleID(ofJWS: jws), row)
    case .message(let object, let bytes):
      return message(bytes, claimed: UnverifiedAppID.bundleID(ofMessage: object), row)
    case .id(let id, let object): return message(id, beside: object, row)
    }
  }

  /// Receipts and signed transactions of one row.
  private static let mostMembers = 100

  private func message(_ id: String, beside object: JSONObject, _ row: RowMetadata) -> RowOutcome {
    var body: JSONObject = ["transactionId": .string(id)]
    body["environment"] = object["environment"]
    return message(body.encoded(), claimed: object["bundleId"]?.string ?? object["bundle_id"]?.string, row)
  }

  /// Apple is asked by the id beside what is damaged or not proven; not beside what is proven to be of another app.
  ///
  /// Beside a receipt that Apple did not sign the id is not known to be the user's: it is asked by without them.
  private func asking(
    by id: String?, _ object: JSONObject, _ row: RowMetadata, unlessUsable verdict: RowOutcome
  ) -> RowOutcome {
    if let id, !verdict.isUsable, !verdict.isOfAnotherApp {
      let asked = message(id, beside: object, verdict.isForged ? row.withoutUser : row)
      if asked.isUsable { return asked }
    }
    return verdict
  }

  /// The app that is meant; a reason where nobody says, or where two differ.
  func app(claimed: String?, _ row: RowMetadata) throws(RejectReason) -> App {
    let named = [claims.app?.bundleID, row.bundleID, claimed].compactMap(\.self)
    guard let first = named.first else { throw RejectReason(word: "appNotNamed") }
    if named.contains(where: { $0 != first }) { throw RejectReason(.wrongBundle) }
    guard let app = directory[first] else { throw RejectReason(word: "unknownApp") }
    return app
  }

  private func namesSecret(_ userID: String) -> Bool { directory.secretFilter.isHeld(by: userID) }
}

extension RowClassifier.RowOutcome {
  fileprivate var isUsable: Bool { if case .content(let content) = self { content.isUsable } else { false } }

  /// One content of two that one row holds; the first where the other is of another app, by whose key its ids would be asked about.
  fileprivate func joined(with other: Self) -> Self {
    guard case .content(let content) = self, case .content(let further) = other,
      content.place.app == further.place.app
    else { return self }
    return .content(content.joined(with: further))
  }

  /// Whether the content can be read, and something else than Apple signed it.
  fileprivate var isForged: Bool {
    guard case .rejected(let reason, _) = self else { return false }
    return Self.forged.contains(reason)
  }

  private static let forged: Set<RejectReason> = Set(
    [.badSignature, .unknownRoot, .unknownSigner, .notSigned, .missingMarker, .notValidAtDate].map {
      (code: ReceiptError.Code) in RejectReason(code)
    } + VerificationError.Code.allCases.map { RejectReason(word: $0.rawValue) })

  fileprivate var isOfAnotherApp: Bool {
    guard case .rejected(let reason, _) = self else { return false }
    return reason == RejectReason(.wrongBundle) || reason == RejectReason(word: "unknownApp")
  }
}

extension Row {
  fileprivate var holdsReceipt: Bool { if case .receipt = content { true } else { false } }
}

extension JSONObject {
  /// The artefact that stands as an object in a member of a row.
  fileprivate var nestedReceipt: JSONObject? {
    let nested = members.compactMap { $0.value.object }
    return nested.count == 1 && !DetectedContent.isMessage(self) ? nested[0] : nil
  }
}
