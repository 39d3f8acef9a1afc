/// One way in which strangers attack the service, and what it may cost.
struct StrangerAttack: Sendable {
  let name: String
  /// Further options of `switchyard serve`.
  var options: [String] = []
  /// Done to the service before Apple's messages are measured.
  var prepare: @Sendable (ServedProcess) async throws -> Void = { _ in }
  /// Attacks it for so many seconds; what was answered, for people.
  let attack: @Sendable (ServedProcess.Target, Double) async throws -> String
  /// What else has to hold afterwards.
  var check: @Sendable (ServedProcess) async throws -> [Measurement] = { _ in [] }
}

extension LoadReport {
  /// Answers by status, for people.
  var text: String {
    let parts = statuses.sorted { $0.key < $1.key }.map { "\($0.value) of \($0.key)" }
    return (parts + ["\(unanswered) cut off"]).joined(separator: ", ")
  }
}
