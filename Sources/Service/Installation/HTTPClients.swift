import HTTPClient
import HTTPServer
import Runtime
import Seeding

/// The HTTP clients of a process, one for each kind of destination, so that no call waits for another kind's
/// connections.
///
/// As a service it closes them when all senders have ended.
struct HTTPClients: Service {
  /// OCSP responders, back ends with consumption data, and the alert webhook.
  let respondersAndBackEnds: HTTPClient
  let destinations: HTTPClient
  /// Destinations of passed-through notifications, separate so that these do not wait for the outbox on the same host.
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
    // Each destination limits its own concurrency; a slow one must not take the connections of another on the same
    // host.
    destinations = client(connectionsPerHost: 1_024)
    // As many as requests: in a queue for connections Apple's messages would wait behind strangers'.
    oldBackEnds = client(connectionsPerHost: max(1_024, settings.http.limits.connections))
    verifyReceipt = client(connectionsPerHost: VerifyReceiptRoute.callsAtOnce)
    // With HTTP/1.1 a waiting caller needs a connection in addition to an app's bulk lookups. With HTTP/2, which Apple
    // supports, many calls share one.
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
