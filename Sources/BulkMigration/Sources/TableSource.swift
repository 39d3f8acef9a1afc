package import Database
import JSON
package import Ledger
package import Signing
import Time

/// A table of the old back end's database, read page by page in the order of a key.
package struct TableSource: Hashable, Sendable {
  /// How keys are compared.
  package enum KeyKind: String, Hashable, Sendable { case integer, text, bytes }

  /// Which columns are read.
  package struct Columns: Hashable, Sendable {
    /// Unique, and of one column.
    package var key: String
    /// Of receipts, or of whatever else is there.
    package var content: String
    package var userID: String?
    package var app: String?
    /// Of ids by which Apple is asked where the content is of no use.
    package var id: String?

    package init(key: String, content: String, userID: String?, app: String?, id: String? = nil) {
      (self.key, self.content, self.userID, self.app, self.id) = (key, content, userID, app, id)
    }
  }

  /// Without a password.
  package let address: String
  package let table: String
  package let columns: Columns
  package let keyKind: KeyKind
  package let condition: WhereClause?
  /// About how many rows it has, by the server's own estimate.
  package let estimate: Int64?

  package init(
    address: String, table: String, columns: Columns, keyKind: KeyKind, condition: WhereClause?, estimate: Int64?
  ) {
    self.address = address
    self.table = table
    self.columns = columns
    self.keyKind = keyKind
    self.condition = condition
    self.estimate = estimate
  }

  init?(_ json: JSONObject) {
    guard let address = json["address"]?.string, let table = json["table"]?.string, let key = json["key"]?.string,
      let content = json["content"]?.string, let kind = (json["keyKind"]?.string).flatMap(KeyKind.init)
    else { return nil }
    let condition = (json["condition"]?.string).flatMap { try? WhereClause($0) }
    guard (condition == nil) == (json["condition"] == nil) else { return nil }
    self.init(
      address: address, table: table,
      columns: Columns(
        key: key, content: content, userID: json["userId"]?.string, app: json["app"]?.string, id: json["id"]?.string),
      keyKind: kind, condition: condition, estimate: json["estimate"]?.integer)
  }

  var json: JSONObject {
    var json: JSONObject = [
      "kind": "table", "address": .string(address), "table": .string(table), "key": .string(columns.key),
      "content": .string(columns.content), "keyKind": .string(keyKind.rawValue),
    ]
    json["userId"] = columns.userID.map(JSONValue.string)
    json["app"] = columns.app.map(JSONValue.string)
    json["id"] = columns.id.map(JSONValue.string)
    json["condition"] = condition.map { .string($0.text) }
    json["estimate"] = estimate.map(JSONValue.integer)
    return json
  }

  /// For people.
  package var name: String { "table \(table) of \(address.split(separator: "?").first ?? "")" }

  private static let sealing = "source of a bulk migration"

  /// - Parameter password: nil where the account has none.
  package func part(password: String?, sealedWith keys: Keyring?) -> MigrationJobTable.NewPart {
    let sealed = password.flatMap { password in keys?.seal(Array(password.utf8), context: Self.sealing).bytes }
    return MigrationJobTable.NewPart(source: MigrationSource.table(self).stored, sealed: sealed, size: estimate)
  }

  /// A password that this process's master key does not open.
  package struct Locked: Error, CustomStringConvertible {
    package var description: String {
      "the password of the source does not open under this master key: every process needs the one that began the job"
    }
  }

  /// Where it is, with the password that is sealed beside it.
  func configuration(sealed: [UInt8]?, _ keys: Keyring?) throws -> DatabaseConfiguration {
    var configuration = try DatabaseURL(address).configuration
    if let sealed {
      guard let box = try? Sealed(sealed), let password = try? keys?.open(box, context: Self.sealing) else {
        throw Locked()
      }
      configuration.password = String(decoding: password, as: UTF8.self)
    }
    return Self.careful(configuration)
  }

  /// Small results, and time for a page of a table that is not in memory.
  package static func careful(_ configuration: DatabaseConfiguration) -> DatabaseConfiguration {
    var careful = configuration
    careful.resultLimit = 48 << 20
    careful.readTimeout = .minutes(5)
    careful.statementCacheSize = 16
    return careful
  }
}
