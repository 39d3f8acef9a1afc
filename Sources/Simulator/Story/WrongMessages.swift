import JSON

/// The story's wrong messages, one of each kind.
struct WrongMessages {
  /// The only genuine messages about their customers, of two registered apps and an unregistered one.
  let forged: WorldNotification
  let tampered: WorldNotification
  let stranger: WorldNotification
  let contradicting: WorldNotification
  let legacy: WorldNotification
  let other: SimulatedApp

  func mixed(into scenes: [Story.Scene]) -> [Story.Scene] {
    var mixed = scenes
    repeatOne(in: &mixed)
    delayOne(in: &mixed)
    // Inserting from the end keeps the indexes of the rest.
    for (index, scene) in wrong.enumerated().reversed() { mixed.insert(scene, at: min(8 + index * 4, mixed.count)) }
    return mixed
  }

  private var wrong: [Story.Scene] {
    var scenes: [Story.Scene] = []
    func add(_ caption: String, _ content: Story.Scene.Content?, _ expectation: Story.Expectation) {
      if let content { scenes.append(Story.Scene(caption, content, expectation)) }
    }
    add(
      "Mallory sends a purchase with her own certificates", forged.v2.map { .forgery($0) },
      .quarantined("unknownRoot"))
    add("Mallory changes a real message", tampered.v2.map { .tampering($0) }, .quarantined("badSignature"))
    add(
      "A genuine message of an app that is not registered", stranger.v2.map { .notification($0) },
      .quarantined("unknownApp"))
    add(
      "A message of one app that carries a purchase of another", contradicting.v2.map { .notification(ofOther($0)) },
      .quarantined("contradictsEnvelope"))
    add(
      "A purchase reported by Notifications V1", legacy.v1.first.map { .bytes($0.body()) },
      .quarantined("notificationV1NotYet"))
    add("Something that is not even JSON", .bytes(Array("signedPayload=nothing&x=1".utf8)), .refused("notJSON"))
    return scenes
  }

  /// Returns a draft whose parts are genuine but name two apps.
  private func ofOther(_ draft: NotificationDraft) -> NotificationDraft {
    var draft = draft
    draft.app = other
    return draft
  }

  /// Repeats the second message three messages later, as if Apple had not received its response.
  private func repeatOne(in scenes: inout [Story.Scene]) {
    guard scenes.count > 5, let draft = scenes[1].draft else { return }
    scenes.insert(
      Story.Scene("\(scenes[1].caption) — sent once more, byte for byte", .repetition(of: draft), .duplicate), at: 5)
  }

  /// Moves a downgrade after the renewal that it decided.
  private func delayOne(in scenes: inout [Story.Scene]) {
    guard let place = scenes.firstIndex(where: { $0.draft?.title == "DID_CHANGE_RENEWAL_PREF/DOWNGRADE" }) else {
      return
    }
    let late = scenes.remove(at: place)
    let original = late.draft?.subject?.transaction?["originalTransactionId"]
    let renewal = scenes.lastIndex { $0.draft?.subject?.transaction?["originalTransactionId"] == original }
    scenes.insert(
      Story.Scene("\(late.caption) — arrives late, after its consequences", late.content),
      at: (renewal ?? place) + 1)
  }
}
