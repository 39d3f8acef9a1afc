import JSON
import Time

/// The story's messages that are wrong on purpose, one of each kind.
struct Faults {
  let notes: NotesApp
  let trails: TrailsApp
  let seed: UInt64

  /// The scenes with the wrong ones between them.
  func mixed(into scenes: [Story.Scene]) -> [Story.Scene] {
    var mixed = scenes
    repeatOne(in: &mixed)
    delayOne(in: &mixed)
    // From the end, so that the places of those still to come stay what they are.
    let wrong = [forged, tampered, stranger, contradicting, legacy, notJSON]
    for (index, scene) in wrong.enumerated().reversed() { mixed.insert(scene, at: min(8 + index * 4, mixed.count)) }
    return mixed
  }

  /// The second message comes again, three messages later: Apple did not hear that it arrived.
  private func repeatOne(in scenes: inout [Story.Scene]) {
    guard scenes.count > 5, let draft = scenes[1].draft else { return }
    scenes.insert(
      Story.Scene("\(scenes[1].caption) — sent once more, byte for byte", .repetition(of: draft), .duplicate), at: 5)
  }

  /// A downgrade is heard of only after the renewal that it decided.
  private func delayOne(in scenes: inout [Story.Scene]) {
    guard let place = scenes.firstIndex(where: { $0.draft?.title == "DID_CHANGE_RENEWAL_PREF/DOWNGRADE" }) else {
      return
    }
    let late = scenes.remove(at: place)
    let original = late.draft?.subject?.transaction?["originalTransactionId"]
    let renewal = scenes.lastIndex { $0.draft?.subject?.transaction?["originalTransactionId"] == original }
    scenes.insert(
      Story.Scene("\(late.caption) — arrives late, after what came of it", late.content),
      at: (renewal ?? place) + 1)
  }

  private var forged: Story.Scene {
    let life = begun(notes.pro, by: "Mallory", in: notes.app, notes.ids(21), at: notes.start + .days(5))
    return Story.Scene(
      "Mallory sends a purchase with certificates of her own", .forgery(life), .quarantined("unknownRoot"))
  }

  private var tampered: Story.Scene {
    let life = begun(notes.pro, by: "Mallory", in: notes.app, notes.ids(22), at: notes.start + .days(6))
    return Story.Scene("Mallory changes a real message", .tampering(life), .quarantined("badSignature"))
  }

  /// Genuine, of an app that nobody registered here.
  private var stranger: Story.Scene {
    let app = SimulatedApp(name: "Stranger", bundleID: "com.example.stranger", appAppleID: 1_600_000_001)
    let life = begun(notes.plus, by: "Somebody", in: app, notes.ids(23), at: notes.start + .days(7))
    return Story.Scene(
      "A genuine message of an app that is not registered", .notification(life), .quarantined("unknownApp"))
  }

  /// Genuine in each of its parts, which speak of two apps.
  private var contradicting: Story.Scene {
    var draft = begun(trails.monthly, by: "Mallory", in: trails.app, trails.ids(24), at: trails.start + .days(8))
    draft.app = notes.app
    return Story.Scene(
      "A message of Inkwell that carries a purchase of Trailhead", .notification(draft),
      .quarantined("contradictsEnvelope"))
  }

  private var legacy: Story.Scene {
    var ids = notes.ids(25)
    let customer = Customer(name: "Jo", storefront: .unitedStates, appTransactionID: ids.appTransactionID())
    let transaction = SimulatedTransaction(
      of: notes.plus, by: customer, in: notes.app, at: notes.start + .days(9), ids: &ids)
    let secret = String((ids.uuid() + ids.uuid()).filter { $0 != "-" }.prefix(32))
    return Story.Scene(
      "A renewal told the old way: Notifications V1",
      .bytes(LegacyNotification.renewal(of: transaction, by: customer, in: notes.app, sharedSecret: secret).body()),
      .quarantined("notificationV1NotYet"))
  }

  private var notJSON: Story.Scene {
    Story.Scene("Something that is not even JSON", .bytes(Array("signedPayload=nothing&x=1".utf8)), .refused("notJSON"))
  }

  private func begun(
    _ product: Product, by name: String, in app: SimulatedApp, _ ids: IdentifierSource, at date: Milliseconds
  ) -> NotificationDraft {
    var ids = ids
    let customer = Customer(name: name, storefront: .unitedStates, appTransactionID: ids.appTransactionID())
    var life = SubscriptionLife(of: product, by: customer, in: app, from: date, ids: ids)
    return life.begin()
  }
}
