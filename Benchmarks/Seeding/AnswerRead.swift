import Adapter
import Intake
import Ledger
import Purchases
import Service
import Signing
import Simulator
import Time
import Wire

/// What reading an answer of Apple's costs beside its signatures: from the body to the `Entry` that is written.
///
/// Pages of 20 transactions and answers about statuses (a transaction and a renewal each), of customers of 100
/// transactions, go the way that `APIResponseRecorder.take` goes: identity, digest, `IngestDecider.answer`, the body taken apart for
/// storage. Beside it the bare verification of the same JWS (`BareVerification`), in turns; medians of the thread's time
/// over 40 rounds, or as many as `--seconds` says when that is fewer.
enum AnswerRead {
  private static let name = "answer.read"
  private static let customers = 10

  static let benchmark = Benchmark(
    name: name, summary: "an answer of the App Store Server API from its bytes to what is written, on one core"
  ) { settings in
    let world = try HistoryWorld(hundred: customers, five: 0)
    var answers: [HistoryWorld.Answer] = []
    try await world.answers(world.hundred) { answers.append($0) }
    let roots = TrustedRoots.apple.adding(
      [try world.store.identity.chains.pki.trustedRoot()], for: .sandbox)
    let road = Road(intake: IngestDecider(adapter: MessageDecoder(verifier: SignedDataVerifier(roots: roots))))
    let rounds = Rounds(count: min(40, settings.seconds))
    return try [("history", HistoryWorld.Answer.Kind.history), ("statuses", .statuses)].flatMap { title, kind in
      let chosen = answers.filter { $0.kind == kind }
      let jws = try chosen.flatMap { try $0.jws() }
      let bare = try BareVerification(signed: jws, leaf: world.leaf)
      let bodies = chosen.map(\.body)
      let (ours, ceiling) = try rounds.medians({ try road.run(bodies) }, { try bare.run() })
      let count = Double(jws.count) * 1_000
      return [
        Measurement(
          name: "\(name).\(title)", value: ours / count, unit: "us/JWS", against: ceiling / count,
          peer: "one bare OpenSSL verification"),
        Measurement(name: "\(name).\(title).beside", value: (ours - ceiling) / count, unit: "us/JWS"),
      ]
    }
  }

  /// The road from a body to an entry.
  private struct Road {
    let intake: IngestDecider
    let app = App(id: App.ID(1), bundleID: HistoryShape.hundred.bundleID, appAppleID: nil)

    /// Not inlined, so that a profile can be of this alone.
    @inline(never)
    func run(_ bodies: [[UInt8]]) throws {
      for body in bodies {
        let message = InboxMessage(
          kind: .apiAnswer, body: body,
          identity: MessageIdentity(ofEvidence: body, app: app.bundleID, environment: .sandbox).bytes,
          claim: SubmissionMetadata(environment: .sandbox), receivedAt: Timestamp(1_800_000_000_000))
        let decision = intake.answer(message, about: app)
        guard let reading = decision.reading, reading.survey.isClean else {
          throw BenchmarkError("an answer was not understood: \(decision.refusal?.detail ?? "a survey")")
        }
      }
    }
  }
}
