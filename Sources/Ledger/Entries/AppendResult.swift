/// What became of an entry, after commit.
package enum AppendResult: String, Hashable, Sendable {
  case stored
  /// The same body is in the inbox already; nothing was written.
  case duplicate
  case quarantined
  /// The same body is in quarantine already.
  case quarantinedBefore
  /// Quarantine keeps no more of this source, or no more that Apple's networks did not send: nothing was written.
  case quarantineFull
  /// The app's stage has changed since it was decided on: nothing was written, and it is to be decided anew.
  case stageChanged

  /// Whether it was written, so that it is in the outbox if it has an addressee.
  var isNew: Bool {
    switch self {
    case .stored, .quarantined: true
    case .duplicate, .quarantinedBefore, .quarantineFull, .stageChanged: false
    }
  }
}
