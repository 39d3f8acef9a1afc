/// How far an app may go by itself, and what each step has to be proven by.
package struct RolloutPolicy: Hashable, Sendable {
  /// The last step that is taken.
  ///
  /// `complete` is never reached so: whoever signs it off takes that step by hand.
  package var until = RolloutStep(.live)
  package var demand = Evidence.Demand()
  /// Hours for which customers get our answers at one step before the next is taken.
  package var leastHours = 24
  /// Hours for which a stage may wait for its evidence; then somebody has to look.
  package var patience = 14 * 24

  package init() {}
}

extension MissingEvidence {
  /// Whether it comes by itself with time, as long as services run: nobody has to do anything for it.
  package var comesByItself: Bool {
    switch self {
    case .comparisons, .completeness(_, incomplete: 0, _): true
    case .ids(let ids): ids.waitsOnly
    case .guardVerdict(let step, let breach): breach == nil && step?.verdict.breach == nil
    case .credentials, .completeness, .impact, .incomplete: false
    }
  }
}
