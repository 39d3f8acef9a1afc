extension Array {
  /// Returns the elements in their order, as many at a time as a statement lists.
  ///
  /// A customer may have thousands of transactions, and a statement has at most 65,535 parameters.
  func parts(of most: Int = 512) -> [[Element]] {
    stride(from: 0, to: count, by: most).map { Array(self[$0..<Swift.min($0 + most, count)]) }
  }
}
