import Database
import JSON
import Purchases
import Signing
import Time

/// The columns of every table of statements: the facts, their time, the message and the rank.
extension Statement {
  var columns: [SQLValue] {
    [
      .integer(rank.asOf.sinceEpoch), .bytes(facts.encoded()), .bytes(message), .bytes(EncodedRank.bytes(rank)),
    ]
  }

  init(key: Key, _ row: Row) throws(DatabaseError) {
    guard let source = Source(rawValue: try row.int("source")) else {
      throw DatabaseError(.column, "a source this build does not know: \(try row.int("source"))")
    }
    self.init(
      key: key, source: source,
      rank: Rank(asOf: try row.milliseconds("as_of"), tieBreak: EncodedRank.tieBreak(try row.bytes("precedence"))),
      facts: try Facts(stored: try row.bytes("facts")), message: try row.bytes("message"))
  }
}

extension Facts {
  init(stored bytes: [UInt8]) throws(DatabaseError) {
    let json: JSONObject
    do throws(JSONError) {
      guard let object = try JSONReader.read(bytes, limits: .stored).object else {
        throw JSONError(.unexpectedByte, at: 0)
      }
      json = object
    } catch {
      throw DatabaseError(.column, "facts that are not a JSON object: \(error)")
    }
    self.init(json: json)
  }
}

extension Environment {
  /// The environment's number in tables.
  ///
  /// It never changes.
  var code: Int {
    switch self {
    case .production: 1
    case .sandbox: 2
    case .xcode: 3
    case .localTesting: 4
    }
  }

  init(code: Int) throws(DatabaseError) {
    guard let environment = Self.allCases.first(where: { $0.code == code }) else {
      throw DatabaseError(.column, "an environment this build does not know: \(code)")
    }
    self = environment
  }
}
