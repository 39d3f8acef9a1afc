package import JSON
import Time

/// A supervisor's report to its parent: one JSON object a line, until the database responds or fails to start.
package enum SupervisorReport: Sendable {
  case event(EmbeddedServer.Event)
  case failed(EmbeddedServerError)

  package var json: JSONObject {
    switch self {
    case .event(.moved(let reason)): ["event": "moved", "reason": .string(reason)]
    case .event(.initializing(let directory, let user)):
      ["event": "initializing", "directory": .string(directory), "user": .string(user)]
    case .event(.stoppedOrphan(let pid)): ["event": "stoppedOrphan", "pid": .integer(Int64(pid))]
    case .event(.started(let pid)): ["event": "started", "pid": .integer(Int64(pid))]
    case .event(.died(let code, let pause)):
      ["event": "died", "code": .integer(Int64(code)), "restartingAfterMilliseconds": .integer(pause.milliseconds)]
    case .failed(let error):
      switch error.code {
      case .inUse(let pid):
        ["error": .string(error.code.name), "pid": .integer(Int64(pid)), "detail": .string(error.detail)]
      case .programsMissing, .directory, .tooManyFiles, .initializationFailed, .startFailed, .gaveUp, .misuse:
        ["error": .string(error.code.name), "detail": .string(error.detail)]
      }
    }
  }

  /// Returns `nil` for an unknown line.
  init?(_ line: [UInt8]) {
    guard let object = (try? JSONReader.read(line))?.object else { return nil }
    func number(_ name: String) -> Int32 { object[name]?.integer.flatMap { Int32(exactly: $0) } ?? 0 }
    func text(_ name: String) -> String { object[name]?.string ?? "" }
    if let name = object["error"]?.string {
      guard let code = EmbeddedServerError.Code(named: name, pid: number("pid")) else { return nil }
      self = .failed(EmbeddedServerError(code, text("detail")))
      return
    }
    switch object["event"]?.string {
    case "moved": self = .event(.moved(text("reason")))
    case "initializing": self = .event(.initializing(directory: text("directory"), user: text("user")))
    case "stoppedOrphan": self = .event(.stoppedOrphan(pid: number("pid")))
    case "started": self = .event(.started(pid: number("pid")))
    case "died":
      let pause = Interval.milliseconds(object["restartingAfterMilliseconds"]?.integer ?? 0)
      self = .event(.died(code: number("code"), restartingAfter: pause))
    default: return nil
    }
  }
}

extension EmbeddedServerError.Code {
  fileprivate var name: String {
    switch self {
    case .programsMissing: "programsMissing"
    case .inUse: "inUse"
    case .directory: "directory"
    case .tooManyFiles: "tooManyFiles"
    case .initializationFailed: "initializationFailed"
    case .startFailed: "startFailed"
    case .gaveUp: "gaveUp"
    case .misuse: "misuse"
    }
  }

  fileprivate init?(named name: String, pid: Int32) {
    let all: [Self] = [
      .programsMissing, .inUse(pid: pid), .directory, .tooManyFiles, .initializationFailed, .startFailed, .gaveUp,
      .misuse,
    ]
    guard let code = all.first(where: { $0.name == name }) else { return nil }
    self = code
  }
}
