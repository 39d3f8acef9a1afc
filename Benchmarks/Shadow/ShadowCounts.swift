/// What a service's metrics say of comparisons, and of whose answers clients got.
struct ShadowCounts: Sendable {
  /// Calls that were offered for comparison, by what became of them.
  private(set) var calls: [String: Int] = [:]
  /// `switchyard_comparisons_total`, of all causes.
  private(set) var compared = 0
  /// Of them those with a difference.
  private(set) var different = 0
  /// Calls that wait to be compared.
  private(set) var waiting = 0
  /// Answers that were Apple's.
  private(set) var ofApple = 0

  /// - Parameter page: as `/metrics` has it.
  init(_ page: String) {
    for line in page.split(separator: "\n") where !line.hasPrefix("#") {
      guard let value = line.split(separator: " ").last.flatMap({ Double($0) }) else { continue }
      let count = Int(exactly: value.rounded()) ?? 0
      if line.hasPrefix("switchyard_shadow_calls_total{") {
        calls[Self.label("outcome", line), default: 0] += count
      } else if line.hasPrefix("switchyard_comparisons_total{") {
        compared += count
        if Self.label("cause", line) != "equal" { different += count }
      } else if line.hasPrefix("switchyard_shadow_queue_length") {
        waiting = count
      } else if line.hasPrefix("switchyard_verify_receipt_responses_total{"), Self.label("source", line) == "apple" {
        ofApple += count
      }
    }
  }

  /// What came since; what waits is that of now.
  func since(_ before: Self) -> Self {
    var more = self
    more.calls = calls.merging(before.calls) { $0 - $1 }
    more.compared -= before.compared
    more.different -= before.different
    more.ofApple -= before.ofApple
    return more
  }

  /// Calls of which something became.
  var ended: Int { calls.values.reduce(0, +) }

  private static func label(_ name: String, _ line: Substring) -> String {
    guard let start = line.firstRange(of: "\(name)=\"") else { return "" }
    return String(line[start.upperBound...].prefix { $0 != "\"" })
  }
}
