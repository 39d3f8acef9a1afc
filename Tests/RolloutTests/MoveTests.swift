import Rollout
import Testing

@Suite struct `A move` {
  @Test(arguments: [
    (Stage.legacy, Stage.record, true, true), (.record, .legacy, true, true), (.record, .record, false, false),
    (.legacy, .record, false, true),
  ])
  func `goes between legacy and record, both ways`(from: Stage, to: Stage, hasURL: Bool, changes: Bool) throws {
    let move = try Move(from: from, to: to, hasLegacyURL: hasURL, isBackedUp: false)
    #expect(move.changesAnything == changes)
    #expect((move.voids != nil) == (from == .record && to == .legacy))
  }

  @Test(arguments: [Stage.shadow, .ramp, .live, .complete])
  func `is refused to a stage that this build does not have, with what to do instead`(to: Stage) {
    let refusal = #expect(throws: MoveRefusal.self) {
      try Move(from: .record, to: to, hasLegacyURL: true, isBackedUp: false)
    }
    #expect(refusal?.code == .notYetAvailable)
    #expect(refusal?.description.contains("not yet available") == true)
    #expect(refusal?.description.contains("legacy and record") == true)
  }

  @Test func `is refused to legacy without a URL`() {
    let refusal = #expect(throws: MoveRefusal.self) {
      try Move(from: .record, to: .legacy, hasLegacyURL: false, isBackedUp: false)
    }
    #expect(refusal?.code == .noLegacyURL)
    #expect(refusal?.description.contains("app legacy-url") == true)
  }

  @Test func `is refused to legacy while messages wait, since new ones would pass them by`() throws {
    let refusal = #expect(throws: MoveRefusal.self) {
      try Move(from: .record, to: .legacy, hasLegacyURL: true, isBackedUp: true)
    }
    #expect(refusal?.code == .messagesWait)
    #expect(refusal?.description.contains("--pass-by") == true)
    #expect(try Move(from: .legacy, to: .record, hasLegacyURL: true, isBackedUp: true).changesAnything)
    #expect(try !Move(from: .legacy, to: .legacy, hasLegacyURL: true, isBackedUp: true).changesAnything)
  }

  @Test func `decides the road of a notification: only legacy stores nothing`() {
    #expect(Stage.allCases.filter { $0.notifications == .passThrough } == [.legacy])
  }
}
