import JSON
import Ledger
import Operations
import Runtime
import Wire

/// `--consumption …` of `switchyard app set`.
struct ConsumptionOptions: Sendable {
  static let options: [Option] = [
    .value(
      "consumption", "POLICY", choices: ["ignore", "fixed", "ask"],
      "The answer to Apple's signed consumption requests."),
    .value("consumption-file", "FILE", "With fixed: Apple's ConsumptionRequest as JSON."),
    .value("consumption-url", "URL", "With ask: where your back end is asked."),
    .value(
      "consumption-token-file", "FILE", "With ask: the bearer token that your back end expects from Switchyard; sealed."
    ),
  ]

  private static let fileLimit = 64 << 10

  let choice: SetAppPolicies.Consumption

  /// Returns `nil` without any consumption option.
  init?(_ arguments: ParsedArguments) throws {
    func fail(_ text: String) -> UsageError { UsageError(.invalidValue, text, path: arguments.path) }
    let (file, url) = (arguments.value("consumption-file"), arguments.value("consumption-url"))
    let tokenFile = arguments.value("consumption-token-file")
    let mode = arguments.value("consumption")
    guard (file != nil) == (mode == "fixed") else {
      throw fail("--consumption fixed and --consumption-file go together.")
    }
    guard (url != nil) == (mode == "ask") else { throw fail("--consumption ask and --consumption-url go together.") }
    guard tokenFile == nil || mode == "ask" else { throw fail("--consumption-token-file goes with --consumption ask.") }
    guard mode != nil else { return nil }
    let policy: ConsumptionPolicy
    if let file {
      guard let answer = try? JSONReader.read(Input.read(file, limit: Self.fileLimit)).object else {
        throw SecretFileError(file: file, reason: "it holds no JSON object")
      }
      let problems = ConsumptionRequest(answer).problems
      guard problems.isEmpty else { throw fail("Apple would not take it: \(problems.joined(separator: "; ")).") }
      policy = .fixed(answer)
    } else if let url {
      try AppLegacyURL.check(url, "A URL of a back end", arguments)
      policy = .ask(url: url)
    } else {
      policy = .ignore
    }
    let token = try tokenFile.map { file in
      var bytes = try Input.read(file, limit: Self.fileLimit)
      while bytes.last == 0x0A || bytes.last == 0x0D || bytes.last == 0x20 { bytes.removeLast() }
      guard !bytes.isEmpty, bytes.count <= 4_096, bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
        throw SecretFileError(file: file, reason: "it holds no token: one line of visible ASCII, at most 4096 bytes")
      }
      return bytes
    }
    choice = SetAppPolicies.Consumption(policy, token: token)
  }
}
