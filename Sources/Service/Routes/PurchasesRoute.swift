import Database
import HTTPServer
import JSON
import Ledger
package import Mappings
import Purchases
package import Runtime
package import Time

/// `GET /v1/apps/{app}/purchases/{id}` and `…/customers/{id}`: the stored data, by any ID that ever named it.
///
/// A long response comes in pages with `limit` items of each list. `next` is the `after` parameter of the following
/// page. Every page has the status of all subscriptions.
package struct PurchasesRoute: Sendable {
  private let lookUps: PurchaseLookup
  private let vocabulary: Vocabulary
  private let clock: WallClock
  private let logger: Logger

  package init(lookUps: PurchaseLookup, vocabulary: Vocabulary = .embedded, clock: WallClock, logger: Logger) {
    self.lookUps = lookUps
    self.vocabulary = vocabulary
    self.clock = clock
    self.logger = logger
  }

  func respond(to request: HTTPRequest, app: App, id: String, extent: LedgerStore.Extent) async -> HTTPResponse {
    guard id.utf8.count <= 128 else { return .error(400, "invalidId", "an id has at most 128 bytes") }
    if let refusal = request.refusal(ofParametersBeside: ["limit", "after", "provenance", "environment"]) {
      return refusal
    }
    var lookUp = PurchaseLookup.Request(id: id, app: app, extent: extent)
    if let name = request.queryValue("environment") {
      guard let environment = Environment(rawValue: name) else { return .unknownEnvironment }
      lookUp.environment = environment
    }
    if let limit = request.queryValue("limit") {
      guard let limit = Int(limit), (1...PurchaseLookup.mostItems).contains(limit) else {
        return .error(400, "invalidLimit", "limit is a number from 1 to \(PurchaseLookup.mostItems)")
      }
      lookUp.limit = limit
    }
    if let cursor = request.queryValue("after") {
      do throws(PageCursor.Unusable) { try lookUp.resume(after: cursor) } catch {
        return .error(
          400, "invalidCursor", "after is not the next of an answer to this request",
          next: "send the next of the previous answer unchanged, or leave after out to begin again")
      }
    }
    do {
      let now = clock.now()
      let document = PurchaseDocument(
        vocabulary: vocabulary, now: now, showsProvenance: request.queryValue("provenance") != "false")
      guard let answer = try await lookUps.answer(lookUp, document) else {
        return .error(404, "unknownId", "no purchase of \(app.bundleID) is known under this id")
      }
      var object: JSONObject = [
        "app": .string(app.bundleID), "id": .string(id), "at": .integer(now.sinceEpoch),
        "results": .array(answer.results.map { .object($0.object) }),
      ]
      object["next"] = answer.next.map(JSONValue.string)
      return .object(200, object)
    } catch let error as DatabaseError where error.code == .tooLarge {
      return .error(
        422, "tooManyPurchases", error.detail,
        next: "ask for one purchase by its originalTransactionId, with /purchases/")
    } catch let refusal as AsyncSemaphore.Refusal {
      logger.warning("a large lookup was refused", metadata: ["reason": "\(refusal)"])
      return .unavailable("tooManyLookUps", "too many lookups of large customers wait")
    } catch {
      logger.error("a lookup failed", metadata: ["error": "\(error)"])
      return .unavailable("databaseUnavailable", "the database did not answer")
    }
  }
}
