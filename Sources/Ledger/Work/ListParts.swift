extension Array {
  /// The elements in their order, as many at a time as a statement lists.
  ///
  /// A customer may have thousands of transactions, and a statement takes no more than 65,535 arguments.
  func parts(of most: Int = 512) -> [[Element]] {
    stride(from: 0, to: count, by: most).map { Array(self[$0..<Swift.min($0 + most, count)]) }
  }
}
