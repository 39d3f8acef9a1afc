import Answering
import Delivery
import Intake
import Ledger
import Seeding
import Shadow
import Signing

extension Router {
  init(
    _ means: ServiceDependencies, settings: Application.Settings, lookUps: PurchaseLookup, seeding: HistoryJobWorker?,
    answering: VerifyReceiptResponder,
    shadow: ShadowComparer, sample: LiveSampler, times: ResponseTimes, health: HealthRoute
  ) {
    let (intake, registry, commit) = (means.intake, means.registry, means.commit)
    let (counts, clock, logger) = (means.counts, means.clock, means.logger)
    self.init(
      notifications: NotificationRoute(
        intake: intake, registry: registry, commit: commit,
        passThrough: NotificationPassthrough(
          post: Delivery.posting(over: means.clients.oldBackEnds), intake: intake, callers: settings.callers,
          sources: settings.sources, within: settings.passThroughWithin, metrics: counts, logger: logger),
        sources: settings.sources, callers: settings.callers, junk: SenderRateLimiter(settings.junk),
        claims: SenderRateLimiter(settings.claims), claimedStock: DailyByteQuota(settings.claimedStock),
        metrics: counts,
        clock: clock, logger: logger),
      receipts: VerifyReceiptRoute(
        client: means.clients.verifyReceipt, upstream: settings.verifyReceipt,
        answers: VerifyReceiptRecorder(
          intake: intake, registry: registry, commit: commit, within: settings.verifyReceipt.recordWithin,
          repeatedEvery: settings.verifyReceipt.repeatedEvery, metrics: counts, clock: clock, logger: logger),
        answering: answering, shadow: shadow, sample: sample, times: times,
        posted: ReceiptCapture(
          intake: intake, ledger: means.ledger, registry: registry, commit: commit, metrics: counts, clock: clock,
          logger: logger), callers: settings.callers, registry: registry, metrics: counts, logger: logger),
      evidence: SubmissionRoute(
        intake: intake, ledger: means.ledger, commit: commit, lookUps: lookUps, seeding: seeding, registry: registry,
        metrics: counts, clock: clock, logger: logger),
      purchases: PurchasesRoute(lookUps: lookUps, clock: clock, logger: logger), health: health,
      showsMetrics: settings.showsMetrics, sources: settings.sources, callers: settings.callers, registry: registry)
  }
}
