package import Answering
package import BulkMigration
package import Delivery
package import HTTPClient
package import HTTPServer
package import Ledger
package import Reconciliation
package import Seeding
package import Shadow
package import Signing
package import Time

extension Application {
  package struct Settings: Sendable {
    package var http: HTTPServerConfiguration
    /// Host and process ID, which commands on the same database show to operators.
    package var name: String?
    /// A listener only for the metrics; `nil` means no such listener.
    package var metricsListener: HTTPServerConfiguration?
    /// Whether `http` serves the metrics too.
    ///
    /// They name the apps, so strangers must not reach them.
    package var showsMetrics = true
    package var sources = IPAllowlist.anywhere
    package var callers = CallerClassifier()
    package var junk = SenderRateLimiter.Settings()
    package var claims = SenderRateLimiter.Settings.claims
    /// Bytes of strangers' claims to store for each app in a day.
    package var claimedStock = 256 << 20
    /// `nil` if the disk of the database is not visible from here.
    package var disk: DiskSpaceMonitor.Settings?
    package var commit = GroupCommit.Limits()
    package var verifyReceipt = VerifyReceiptUpstream()
    package var answering = VerifyReceiptResponder.Settings()
    package var shadow = ShadowComparer.Settings()
    /// The time between sampled calls of an app that Switchyard answered and that are compared with Apple's response.
    package var answersSampledEvery = Duration.seconds(2)
    /// The webhook for apps that the guard returns to shadow; `nil` means only the log, the audit and the metrics.
    package var guardWebhook: GuardWebhook.Settings?
    package var composers = AnswerComposers()
    /// The time for which Switchyard's own response is reused for the same receipt; 0 disables it.
    package var answersKept = Interval.seconds(30)
    package var delivery = Delivery.Settings()
    /// The destination's time limit in the stage `legacy`, while Apple waits.
    package var passThroughWithin = Interval.seconds(10)
    package var client = HTTPClientConfiguration()
    package var revocations: RevocationCache?
    /// `nil` disables scheduled requests to Apple.
    package var appStore: AppStoreSettings?
    package var seeding = HistoryJobWorker.Settings()
    package var carriesOutMigrations = true
    package var migration = MigrationService.Settings()

    package init(http: HTTPServerConfiguration) { self.http = http }
  }
}
