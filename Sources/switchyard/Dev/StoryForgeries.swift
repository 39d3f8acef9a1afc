import JSON
import Signing
import Simulator
import Time

/// Invented purchases, such as a sender without Apple's keys and the app's secret can send.
struct StoryForgeries: Sendable {
  /// Signed by certificates with Apple's names.
  let v2: [UInt8]
  /// Has a guessed password; its receipt is as good as Apple's.
  let v1: [UInt8]

  /// - Parameter start: a date in the past, the date of the forgeries.
  init(at start: Timestamp, receiptPKI: ReceiptPKI) throws {
    var world = DemoRunner.world(at: start)
    world.advance(by: .days(1))
    let (inkwell, trailhead) = (DemoRunner.inkwell, DemoRunner.trailhead)
    for app in [inkwell, trailhead] {
      let mallory = try world.enrol(in: app, environment: .production)
      try world.act(.buy(product: "pro.monthly"), on: mallory)
    }
    world.advance(by: .hours(1))
    let told = world.drainNotifications()
    let signer = try PayloadSigner(ApplePKI.generate(at: world.start))
    guard let draft = told.first(where: { $0.app.bundleID == trailhead })?.v2,
      var legacy = told.first(where: { $0.app.bundleID == inkwell })?.v1.first
    else { throw NothingToForge() }
    legacy.sharedSecret = "00000000000000000000000000000000"
    v2 = try draft.signed(by: signer).body
    v1 = try legacy.body(signedBy: receiptPKI)
  }

  struct NothingToForge: Error {}
}
