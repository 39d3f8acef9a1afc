import HTTPClient
import HTTPServer
import Runtime
import Seeding

/// The HTTP clients of a process, each called by what it talks to, so that nobody waits for a connection behind somebody else's.
///
/// As a service it closes them when everybody who sends has ended.
struct HTTPClients: Service {
  /// OCSP responders, back ends that are asked how a purchase was used, and the webhook of alerts.
  let respondersAndBackEnds: HTTPClient
  /// Where the outbox sends.
  let destinations: HTTPClient
  /// Where notifications are passed through: not behind what the outbox sends to the same host.
  let oldBackEnds: HTTPClient
  /// Apple's verifyReceipt: its clients wait, and may need many connections to one host.
  let verifyReceipt: HTTPClient
  let appStoreServer: HTTPClient

  init(_ settings: Application.Settings) {
    func client(connectionsPerHost: Int) -> HTTPClient {
      var configuration = settings.client
      configuration.connectionsPerHost = connectionsPerHost
      return HTTPClient(configuration)
    }
    respondersAndBackEnds = HTTPClient(settings.client)
    // How many attempts are under way each destination decides for itself; one that is slow must not take the
    // connections of another on the same host.
    destinations = client(connectionsPerHost: 1_024)
    // As many as there may be requests: in a line for connections Apple's messages would wait behind strangers'.
    oldBackEnds = client(connectionsPerHost: max(1_024, settings.http.limits.connections))
    verifyReceipt = client(connectionsPerHost: VerifyReceiptRoute.callsAtOnce)
    // Over HTTP/1.1 who waits for an answer finds a connection beside everybody of an app who is asked about in bulk; over
    // HTTP/2, which Apple speaks, many calls share one.
    appStoreServer = client(
      connectionsPerHost: settings.seeding.concurrency + settings.seeding.claimedConcurrency
        + settings.seeding.unverifiedConcurrency + 64)
  }

  func run() async throws {
    await untilCancelled()
    for client in [appStoreServer, verifyReceipt, oldBackEnds, destinations, respondersAndBackEnds] {
      await client.shutdown()
    }
  }
}
