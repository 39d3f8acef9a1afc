package enum AppendResult: String, Hashable, Sendable {
  case stored
  /// The inbox has the same body.
  ///
  /// The transaction wrote nothing.
  case duplicate
  case quarantined
  /// Quarantine has the same body.
  case quarantinedBefore
  /// The quota of the source, or of senders other than Apple's networks, is used up.
  ///
  /// The transaction wrote nothing.
  case quarantineFull
  /// The app's stage has changed since the decision.
  ///
  /// Decide again.
  case stageChanged

  /// Whether the entry was written, and added to the outbox if it has an addressee.
  var isNew: Bool {
    switch self {
    case .stored, .quarantined: true
    case .duplicate, .quarantinedBefore, .quarantineFull, .stageChanged: false
    }
  }
}
