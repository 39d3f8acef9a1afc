import Adapter
import HTTPServer
import JSON
import Ledger
import Purchases

extension HTTPResponse {
  static func error(_ status: Int, _ code: String, _ detail: String, next: String? = nil) -> Self {
    var error: JSONObject = ["code": .string(code), "detail": .string(detail)]
    error["next"] = next.map(JSONValue.string)
    let body: JSONObject = ["error": .object(error)]
    return .json(status, body.encoded())
  }

  static func unauthorized(_ detail: String) -> Self {
    var response = error(401, "unauthorized", detail)
    response.headers.append("WWW-Authenticate", "Bearer realm=\"switchyard\"")
    return response
  }

  /// Asks the sender to retry later, because nothing was stored; Apple retries for three days.
  static func unavailable(_ code: String, _ detail: String) -> Self {
    var response = error(503, code, detail)
    response.headers.append("Retry-After", "5")
    return response
  }

  static func object(_ status: Int, _ object: JSONObject) -> Self { .json(status, object.encoded()) }

  /// Reports an entry that was not written; the database's error stays in the log.
  static func notWritten(_ failure: GroupCommit.Failure) -> Self {
    switch failure {
    case .overloaded: .unavailable("overloaded", "too many messages wait to be stored")
    case .stopping: .unavailable("stopping", "the service is stopping")
    case .stageChanged: .unavailable("stageChanged", "the app's stage is changing at this moment")
    case .diskFull:
      .unavailable("diskFull", "disk full: less is free than --disk-headroom; the operator must free space")
    case .database: .unavailable("databaseUnavailable", "the message could not be stored")
    }
  }
}

extension HTTPResponse {
  static var unknownEnvironment: Self {
    let known = Environment.allCases.map(\.rawValue).joined(separator: ", ")
    return .error(400, "unknownEnvironment", "environment is one of \(known)")
  }
}

extension HTTPRequest {
  /// Rejects a request with other parameters, which would otherwise be ignored.
  func refusal(ofParametersBeside names: [String]) -> HTTPResponse? {
    guard query.contains(where: { !names.contains($0.name) }) else { return nil }
    return .error(400, "unknownParameter", "the parameters are \(names.joined(separator: ", "))")
  }
}
