/// Many requests, a few of them under way at once.
extension AnsweringService {
  private static let atOnce = 8

  /// Does something with each; the results are in their order.
  func each<Item: Sendable, Result: Sendable>(
    _ items: [Item], _ body: @escaping @Sendable (Item) async throws -> Result
  ) async throws -> [Result] {
    try await withThrowingTaskGroup(of: (Int, Result).self) { group in
      var (results, next) = ([Int: Result](), 0)
      func begin() {
        guard next < items.count else { return }
        let (place, item) = (next, items[next])
        next += 1
        group.addTask { (place, try await body(item)) }
      }
      for _ in 0..<Self.atOnce { begin() }
      while let (place, result) = try await group.next() {
        results[place] = result
        begin()
      }
      return items.indices.compactMap { results[$0] }
    }
  }
}
