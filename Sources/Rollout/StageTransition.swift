/// A change of stage that may be made.
package struct StageTransition: Hashable, Sendable {
  package let from: Stage
  package let to: Stage
  /// How many customers got our answers before; nil in every stage but `ramp`.
  package let shareBefore: RampPercentage?
  /// How many get them then; nil in every stage but `ramp`.
  package let share: RampPercentage?
  /// Whether it was accepted without the evidence that it needs.
  package let isForced: Bool

  /// Refuses a move that would leave the old back end without what Apple sends, or that has no evidence for it and was not
  /// forced.
  ///
  /// - Parameter share: for `ramp` alone.
  package init(
    from: Stage, at shareBefore: RampPercentage? = nil, to: Stage, share: RampPercentage? = nil,
    where conditions: TransitionPreconditions
  ) throws(TransitionError) {
    if to.notifications == .passThrough {
      guard conditions.hasLegacyURL else { throw TransitionError(.noLegacyURL, to: to) }
      guard from == to || !conditions.isBackedUp else { throw TransitionError(.messagesWait, to: to) }
    }
    if to == .complete, from != to {
      // Apple's legacy endpoint is not there to fall back to: force is no substitute for these.
      guard conditions.hasSharedSecret else { throw TransitionError(.noSharedSecret, to: to) }
      guard conditions.hasAPIKey else { throw TransitionError(.noAPIKey, to: to) }
    }
    guard (to == .ramp) == (share != nil) else { throw TransitionError(.noShare, to: to) }
    let isLarger = to == from && shareBefore.map { before in share.map { $0 > before } ?? false } ?? false
    let needsEvidence = to.answers != .apple && (to > from || isLarger)
    guard !needsEvidence || conditions.hasEvidence || conditions.isForced else {
      throw TransitionError(.noEvidence, to: to)
    }
    self.from = from
    self.to = to
    self.shareBefore = shareBefore
    self.share = share
    isForced = needsEvidence && !conditions.hasEvidence
  }

  /// False when the app is there already.
  package var changesAnything: Bool { from != to || shareBefore != share }

  /// What is moved from and to: `shadow to ramp 10 %`.
  package var description: String { "\(Self.name(from, shareBefore)) to \(Self.name(to, share))" }

  /// A stage with its share.
  package static func name(_ stage: Stage, _ share: RampPercentage?) -> String {
    share.map { "\(stage.rawValue) \($0)" } ?? stage.rawValue
  }

  /// What the move makes worthless, in words for an operator; nil when nothing.
  package var voids: String? {
    guard from != .legacy, to == .legacy else { return nil }
    return """
      what Apple sends from now on is not stored: the record has a gap until it is reconciled, and evidence gathered so \
      far does not count for a later stage
      """
  }
}

/// Why a stage cannot be set.
package struct TransitionError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Code: String, Sendable, CaseIterable {
    /// `legacy` without an enabled legacy URL: every notification would be answered with 503.
    case noLegacyURL
    /// New messages would pass by those that wait in the outbox, and a customer's would come out of order.
    case messagesWait
    /// `ramp` without a percentage, or another stage with one.
    case noShare
    /// `rollout advance` to a percentage that is none of a ramp that grows.
    case noGrowth
    /// Nothing has shown yet that our answers are Apple's, and the operator did not force the move.
    case noEvidence
    /// `complete` without a shared secret: nobody could say 21004.
    case noSharedSecret
    /// `complete` without a key of the App Store Server API: nothing unknown could be looked up.
    case noAPIKey
  }

  package let code: Code
  package let stage: Stage

  package init(_ code: Code, to stage: Stage) {
    self.code = code
    self.stage = stage
  }

  package var description: String {
    switch code {
    case .messagesWait:
      return """
        messages have waited for the destination for more than a minute, and new ones would overtake them: let \
        them drain (`switchyard rollout status`), give them up (`switchyard outbox dead`), or accept it with --pass-by
        """
    case .noLegacyURL:
      return "the stage legacy needs a URL to pass notifications through to: `switchyard app legacy-url` first"
    case .noShare:
      return "the stage ramp, and no other, needs a percentage of customers: --percent 10"
    case .noGrowth:
      return """
        --percent is for an app in shadow, or in ramp with a smaller percentage, and above 0; \
        `switchyard rollout set` makes a percentage smaller
        """
    case .noEvidence:
      return """
        the stage \(stage.rawValue) needs evidence that Switchyard's answers equal Apple's. `switchyard rollout advance` checks it \
        and names what is missing; --force --reason TEXT accepts the move without it
        """
    case .noSharedSecret:
      return """
        in the stage complete Apple is not asked whether a password is right, and no shared secret is registered: \
        `switchyard app secret` first
        """
    case .noAPIKey:
      return """
        in the stage complete only the App Store Server API adds missing history, and no API key is registered: \
        `switchyard app add --key-file` first
        """
    }
  }
}
