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
    /// Host and process id, as operators see them by commands on the same database.
    package var name: String?
    /// A listener for the metrics alone; nil: there is none.
    package var metricsListener: HTTPServerConfiguration?
    /// Whether `http` serves the metrics too: they name the apps, so strangers must not reach them.
    package var showsMetrics = true
    package var sources = IPAllowlist.anywhere
    package var callers = CallerClassifier()
    package var junk = SenderRateLimiter.Settings()
    package var claims = SenderRateLimiter.Settings.claims
    /// Bytes of strangers' claims that are kept of each app in a day.
    package var claimedStock = 256 << 20
    /// Nil: the disk of the database cannot be seen from here.
    package var disk: DiskSpaceMonitor.Settings?
    package var commit = GroupCommit.Limits()
    package var verifyReceipt = VerifyReceiptUpstream()
    package var answering = VerifyReceiptResponder.Settings()
    package var shadow = ShadowComparer.Settings()
    /// How long after one call that we answered Apple is asked about another one of the same app, to compare the answers.
    package var answersSampledEvery = Duration.seconds(2)
    /// What is told of apps that the guard takes back; nil: the log, the audit and the metrics alone.
    package var guardWebhook: GuardWebhook.Settings?
    /// What composes our answers.
    package var composers = AnswerComposers()
    /// How long an answer of our own is given again to whoever sends the same receipt; 0: not at all.
    package var answersKept = Interval.seconds(30)
    package var delivery = Delivery.Settings()
    /// How long the old back end has in the stage `legacy`, while Apple waits.
    package var passThroughWithin = Interval.seconds(10)
    package var client = HTTPClientConfiguration()
    /// The same that the adapter's verifier looks up.
    package var revocations: RevocationCache?
    /// Nil: Apple is asked nothing by itself.
    package var appStore: AppStoreSettings?
    package var seeding = HistoryJobWorker.Settings()
    /// Whether this process carries out bulk migrations.
    package var carriesOutMigrations = true
    package var migration = MigrationService.Settings()

    package init(http: HTTPServerConfiguration) { self.http = http }
  }
}
