/// A change of stage that may be made.
package struct Move: Hashable, Sendable {
  package let from: Stage
  package let to: Stage

  /// Refuses a move that this build cannot carry out, or that would leave the old back end without what Apple sends.
  ///
  /// - Parameters:
  ///   - hasLegacyURL: whether the app has an enabled destination to pass notifications through to.
  ///   - isBackedUp: whether messages have waited for that destination for longer than it takes to send them.
  package init(from: Stage, to: Stage, hasLegacyURL: Bool, isBackedUp: Bool) throws(MoveRefusal) {
    guard to.isAvailable else { throw MoveRefusal(.notYetAvailable, to: to) }
    switch to.notifications {
    case .passThrough:
      guard hasLegacyURL else { throw MoveRefusal(.noLegacyURL, to: to) }
      guard from == to || !isBackedUp else { throw MoveRefusal(.messagesWait, to: to) }
    case .record: break
    }
    self.from = from
    self.to = to
  }

  /// False when the app is there already.
  package var changesAnything: Bool { from != to }

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
package struct MoveRefusal: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Code: String, Sendable, CaseIterable {
    /// The stage is planned, and this build cannot do what it asks for.
    case notYetAvailable
    /// `legacy` without an enabled legacy URL: every notification would be answered with 503.
    case noLegacyURL
    /// New messages would pass by those that wait in the outbox, and a customer's would come out of order.
    case messagesWait
  }

  package let code: Code
  package let stage: Stage

  init(_ code: Code, to stage: Stage) {
    self.code = code
    self.stage = stage
  }

  package var description: String {
    switch code {
    case .notYetAvailable:
      let available = Stage.allCases.filter(\.isAvailable).map(\.rawValue).joined(separator: " and ")
      return """
        the stage \(stage.rawValue) is not yet available in this build, which knows \(available): stay in record, where \
        everything it will need is gathered, and upgrade
        """
    case .messagesWait:
      return """
        messages have waited for the old back end for more than a minute, and new ones would pass them by: let them \
        drain (`switchyard rollout show`), give them up (`switchyard outbox dead`), or accept it with --pass-by
        """
    case .noLegacyURL:
      return "the stage legacy needs a URL to pass notifications through to: `switchyard app legacy-url` first"
    }
  }
}
