package import JSON
import Mappings

/// One call as a value: what is asked, and how the answer reads.
///
/// The static functions of its extensions make them, one for each endpoint; `AppStoreClient.send` makes the call.
public struct APIRequest<Answer: Sendable>: Sendable {
  package enum Body: Hashable, Sendable {
    case none
    case json(JSONObject)
    case png([UInt8])
  }

  package let endpoint: Endpoint
  /// What stands in the path, by the names of `endpoints.tsv`.
  package let path: [String: String]
  /// In order; a name may stand several times.
  package let query: [(name: String, value: String)]
  package let body: Body
  /// Reads the answer's object; nil where Apple answers with nothing.
  let read: (@Sendable (JSONObject) -> Answer)?
  /// The answer of a call that is answered with nothing.
  let nothing: Answer?

  init(
    _ endpoint: Endpoint, path: [String: String] = [:], query: [(name: String, value: String)] = [],
    body: Body = .none, read: @escaping @Sendable (JSONObject) -> Answer
  ) {
    self.endpoint = endpoint
    self.path = path
    self.query = query
    self.body = body
    self.read = read
    nothing = nil
  }

  /// The longest value in a path; Apple's longest identifier has 128 characters.
  private static var longestValue: Int { 256 }

  /// Path and query as they go out, every value percent-encoded.
  ///
  /// A value that would change the path is refused: an empty one, one of dots, one that is too long.
  package func target() throws(APIError) -> String {
    var segments: [String] = []
    for segment in endpoint.row.path.split(separator: "/") {
      guard segment.hasPrefix("{") else {
        segments.append(String(segment))
        continue
      }
      let name = String(segment.dropFirst().dropLast())
      let value = path[name] ?? ""
      guard !value.isEmpty, value != ".", value != "..", value.utf8.count <= Self.longestValue else {
        throw APIError(.invalidCall, endpoint, "\(name) is empty, too long or no identifier")
      }
      segments.append(PercentEncoding.encode(value))
    }
    let pairs = query.map { "\(PercentEncoding.encode($0.name))=\(PercentEncoding.encode($0.value))" }
    return "/" + segments.joined(separator: "/") + (pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&"))
  }
}

extension APIRequest<Void> {
  /// A call that is answered with nothing but a status.
  init(_ endpoint: Endpoint, path: [String: String] = [:], query: [(name: String, value: String)] = [], body: Body) {
    self.endpoint = endpoint
    self.path = path
    self.query = query
    self.body = body
    read = nil
    nothing = ()
  }
}

extension APIRequest<JSONObject> {
  /// A call of any endpoint, whose answer is given as it came; `[:]` where Apple answers with nothing.
  package init(
    _ endpoint: Endpoint, path: [String: String] = [:], query: [(name: String, value: String)] = [], body: Body = .none
  ) {
    self.endpoint = endpoint
    self.path = path
    self.query = query
    self.body = body
    read = { $0 }
    nothing = [:]
  }
}

/// RFC 3986: everything but letters, digits and `-._~` as `%XX`, so that no value means anything to a URL.
enum PercentEncoding {
  static func encode(_ text: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var encoded: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        encoded.append(byte)
      default: encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: encoded, as: UTF8.self)
  }
}
