import HTTPClient
import JSON
import Runtime
import Time

/// `switchyard simulate control`: orders to a served simulated App Store.
enum SimulateControl {
  private static let orders: [(word: String, method: String, path: String, help: String)] = [
    ("world", "GET", "world", "its time and numbers"),
    ("advance", "POST", "advance", "let time pass: days=30, milliseconds=… or to=…"),
    ("act", "POST", "act", "act=refund transactionId=… customer=12.0, and the like"),
    ("enrol", "POST", "customers", "a new customer: bundleId=… environment=Sandbox"),
    ("customers", "GET", "customers", "who is there: bundleId=… skip=… limit=…"),
    ("fault", "POST", "faults", "fault=rateLimited on=api times=3, and the like"),
    ("faults", "GET", "faults", "what is in force"),
    ("mend", "DELETE", "faults", "no more faults"),
    ("destination", "PUT", "destinations", "bundleId=… environment=… url=… version=1"),
    ("destinations", "GET", "destinations", "where notifications go"),
    ("notifications", "GET", "notifications", "what was sent or not: state=waiting"),
    ("consumption", "GET", "consumption", "the answers about consumption"),
    ("truth", "GET", "truth", "the truth about all customers: v1Only=true"),
  ]

  private static let limit = 1 << 30

  static let command = Command(
    "control", "Give an order to a running simulated App Store, or ask it a question.",
    discussion: "Orders: \(orders.map { "\($0.word) (\($0.help))" }.joined(separator: "; ")).",
    whenStopped: "The simulated App Store continues with its order.",
    examples: [
      Command.Example("switchyard simulate control --out world advance days=30"),
      Command.Example("switchyard simulate control --out world fault fault=serverError on=api times=2"),
      Command.Example("switchyard simulate control --out world truth v1Only=true > v1.jsonl"),
    ],
    options: [.value("url", "URL", "Its control URL; read from world.json in --out unless given.")],
    arguments: [
      Positional("ORDER", choices: orders.map(\.word), "What to do."),
      Positional("NAME=VALUE", count: .any, "The order's values."),
    ]
  ) { arguments, terminal in
    guard let order = orders.first(where: { $0.word == arguments.positionals[0] }) else {
      throw UsageError(.invalidValue, "There is no order \(arguments.positionals[0]).", path: arguments.path)
    }
    let pairs = try arguments.positionals.dropFirst().map { text in
      guard let equals = text.firstIndex(of: "="), equals != text.startIndex else {
        throw UsageError(.invalidValue, "Write values as NAME=VALUE, not \(text).", path: arguments.path)
      }
      return (String(text[..<equals]), String(text[text.index(after: equals)...]))
    }
    var request = ClientRequest(
      method: order.method, url: "\(try base(arguments))/\(order.path)", deadline: .minutes(60), responseLimit: limit)
    if order.method == "GET" {
      let query = pairs.map { "\($0.0)=\(escaped($0.1))" }.joined(separator: "&")
      if !query.isEmpty { request.url += "?\(query)" }
    } else if !pairs.isEmpty {
      request.body = JSONObject(pairs.map { ($0.0, value($0.1)) }).encoded()
      request.headers = [("Content-Type", "application/json")]
    }
    let client = HTTPClient()
    let result: Result<ClientResponse, HTTPClientError>
    do throws(HTTPClientError) { result = .success(try await client.send(request)) } catch { result = .failure(error) }
    await client.shutdown()
    if case .failure(let error) = result {
      if Task.isCancelled { throw CancellationError() }
      if error.code == .couldNotConnect { throw SimulatorNotRunning(detail: error.detail) }
    }
    let response = try result.get()
    try terminal.write(response.body.last == 0x0A ? response.body : response.body + [0x0A])
    return response.status == 200 ? .done : .failed
  }

  private static func base(_ arguments: ParsedArguments) throws -> String {
    if let url = arguments.value("url") { return url }
    let file = "\(try arguments.required("out"))/world.json"
    let world = try JSONReader.read(Input.read(file, limit: 1 << 20)).object
    guard let url = world?["controlURL"]?.string else {
      throw UsageError(.invalidValue, "\(file) is not of a world that serves; give --url.", path: arguments.path)
    }
    return url
  }

  /// Parses numbers, true, false and null; other values are text.
  private static func value(_ text: String) -> JSONValue {
    // Apple's IDs are long numbers in texts.
    guard text.utf8.count < 15 || text.hasPrefix("-"), let value = try? JSONReader.read(Array(text.utf8)) else {
      return .string(text)
    }
    return switch value {
    case .null, .bool, .integer: value
    case .number, .string, .array, .object: .string(text)
    }
  }

  private static func escaped(_ text: String) -> String {
    text.utf8.map { byte in
      let isPlain =
        Character(Unicode.Scalar(byte)).isASCII
        && (Character(Unicode.Scalar(byte)).isLetter
          || Character(Unicode.Scalar(byte)).isNumber || [0x2D, 0x2E, 0x5F].contains(byte))
      return isPlain
        ? String(Unicode.Scalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }.joined()
  }
}

private struct SimulatorNotRunning: ExitStatusError, CustomStringConvertible {
  let detail: String

  var exitStatus: ExitStatus { .failed }
  var description: String {
    "no simulated App Store serves there (\(detail)): start `switchyard simulate --port N --out DIR`"
  }
}
