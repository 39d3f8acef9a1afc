import HTTPServer
import JSON
package import Ledger
package import Mappings
package import Runtime
package import Time

/// `GET /v1/apps/{app}/purchases/{id}` and `…/customers/{id}`: what is known, by any id that ever named it.
package struct PurchasesRoute: Sendable {
  private let ledger: Ledger
  private let vocabulary: Vocabulary
  private let clock: WallClock
  private let logger: Logger

  package init(ledger: Ledger, vocabulary: Vocabulary = .embedded, clock: WallClock, logger: Logger) {
    self.ledger = ledger
    self.vocabulary = vocabulary
    self.clock = clock
    self.logger = logger
  }

  func respond(to request: HTTPRequest, app: App, id: String, extent: Ledger.Extent) async -> HTTPResponse {
    guard id.utf8.count <= 128 else { return .error(400, "invalidId", "an id has at most 128 bytes") }
    do {
      let dossiers = try await ledger.dossiers(of: id, app: app, extent: extent)
      guard !dossiers.isEmpty else {
        return .error(404, "unknownId", "no purchase of \(app.bundleID) is known under this id")
      }
      let document = Document(
        vocabulary: vocabulary, now: clock.now(), showsProvenance: request.queryValue("provenance") != "false")
      return .object(
        200,
        [
          "app": .string(app.bundleID), "id": .string(id), "at": .integer(clock.now().sinceEpoch),
          "results": .array(dossiers.map { .object(document.describe($0, extent)) }),
        ])
    } catch {
      logger.error("a look-up failed", metadata: ["error": "\(error)"])
      return .unavailable("databaseUnavailable", "the database did not answer")
    }
  }
}
