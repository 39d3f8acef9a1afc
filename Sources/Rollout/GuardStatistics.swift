/// What the guard looks at of an app in one environment: what was seen since the stage was set, within the rule's window.
package struct GuardStatistics: Hashable, Sendable {
  /// How one side answered calls of verifyReceipt.
  package struct Answers: Hashable, Sendable {
    /// Those without an answer among them.
    package var calls: Int
    /// Calls without an answer.
    package var errors: Int
    /// The p99 in milliseconds; nil where too few were answered.
    ///
    /// Times are counted by steps: of ours the lower end, so that it took more; of Apple's the upper end, so that it took
    /// no more.
    package var slowest: Int?

    package init(calls: Int = 0, errors: Int = 0, slowest: Int? = nil) {
      (self.calls, self.errors, self.slowest) = (calls, errors, slowest)
    }

    /// Of all calls; there must be one.
    var errorRate: Double { Double(errors) / Double(calls) }
  }

  /// Customers who were compared, and those with an impact that counts.
  package var customers: Int
  package var affected: Int
  /// Our answers to callers.
  ///
  /// `slowest` is of the calls that got one.
  package var ours: Answers
  /// Apple's answers.
  ///
  /// `slowest` is of all calls, those without an answer as the slowest.
  package var apple: Answers

  package init(customers: Int = 0, affected: Int = 0, ours: Answers = Answers(), apple: Answers = Answers()) {
    (self.customers, self.affected, self.ours, self.apple) = (customers, affected, ours, apple)
  }
}
