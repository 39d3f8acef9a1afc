package import Time

/// Waits until the condition holds, looking again every few milliseconds; false when it does not in time.
///
/// The wait of every test that would otherwise sleep: `#expect(await eventually { … })`.
package func eventually(
  within limit: Interval = .seconds(120), _ condition: () async throws -> Bool
) async rethrows -> Bool {
  let deadline = ContinuousClock.now + .milliseconds(limit.milliseconds)
  while true {
    if try await condition() { return true }
    guard ContinuousClock.now < deadline, !Task.isCancelled else { return false }
    try? await Task.sleep(for: .milliseconds(5))
  }
}
