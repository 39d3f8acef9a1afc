package import Time

extension Story {
  /// Two apps and nine customers over five months: what can happen to a purchase, and eight messages that are wrong on
  /// purpose.
  ///
  /// 160 days after `start` everybody's status is one that a message told of. Certificates must be valid until then.
  package static func twoApps(seed: UInt64, start: Milliseconds) -> Story {
    let notes = NotesApp(seed: seed, start: start)
    let trails = TrailsApp(seed: seed, start: start)
    var scenes = notes.scenes() + trails.scenes()
    scenes.sort { $0.signedDate < $1.signedDate }
    let faults = Faults(notes: notes, trails: trails, seed: seed)
    return Story(apps: [notes.app, trails.app], scenes: faults.mixed(into: scenes))
  }
}

extension Story.Scene {
  init(_ caption: String, _ draft: NotificationDraft) { self.init(caption, .notification(draft)) }

  /// When it was signed; what is no notification has no date.
  var signedDate: Milliseconds { draft?.signedDate ?? Milliseconds(0) }
}
