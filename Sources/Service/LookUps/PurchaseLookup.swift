import Database
import JSON
package import Ledger
import Mappings
import Purchases
import Runtime
import Time

/// Returns the stored data for an ID, page by page.
///
/// A customer of ordinary size is read in one query and described where the request runs. A large one is read in pieces
/// and described on its database connection's thread, one at a time. So neither memory nor the threads for
/// notifications depend on a customer's number of purchases.
package struct PurchaseLookup: Sendable {
  struct Request {
    let id: String
    let app: App
    let extent: LedgerStore.Extent
    /// `nil` means every environment with data.
    var environment: Environment?
    var limit = PurchaseLookup.mostItems
    /// The end of the previous page; `nil` means the first page.
    var cursor: PageCursor?

    fileprivate var name: String {
      "\(app.bundleID)/\(extent.rawValue)/\(id)" + (environment.map { "/\($0.rawValue)" } ?? "")
    }

    init(id: String, app: App, extent: LedgerStore.Extent) {
      self.id = id
      self.app = app
      self.extent = extent
    }

    /// - Parameter cursor: the `next` of an earlier response.
    mutating func resume(after cursor: String) throws(PageCursor.Unusable) {
      self.cursor = try PageCursor(cursor, of: name)
    }
  }

  struct Answer {
    fileprivate(set) var results: [Result] = []
    /// The cursor of the next page; `nil` at the end.
    fileprivate(set) var next: String?
  }

  struct Result {
    let environment: Environment
    let customers: [String: Set<CustomerNode>]
    var object: JSONObject
  }

  /// The default and largest number of items of each list on a page.
  static let mostItems = 1_000
  /// Bytes of unverified data for each environment, because strangers can claim any amount.
  static let claimBytes = 512 << 10
  /// Rows of one kind that are read before a lookup counts as large.
  private static let ordinaryRows = 200

  private let ledger: LedgerStore
  private let slots: AsyncSemaphore

  package init(_ ledger: LedgerStore) {
    self.ledger = ledger
    slots = AsyncSemaphore()
  }

  var waiting: Int { slots.waitingCount }

  /// Returns `nil` if the ID is unknown.
  ///
  /// Throws a `DatabaseError`, which is `tooLarge` if the ID leads to more purchases than one lookup allows, or a
  /// `AsyncSemaphore.Refusal`.
  func answer(_ request: Request, _ document: PurchaseDocument) async throws -> Answer? {
    let (matches, dossiers) = try await ledger.pool.read { session throws(DatabaseError) in
      let matches = try LedgerStore.matches(of: request.id, app: request.app, extent: request.extent, in: session)
        .filter { $0.environment == request.environment ?? $0.environment }
      return (matches, try LedgerStore.dossiers(of: matches, app: request.app, atMost: Self.ordinaryRows, in: session))
    }
    if matches.isEmpty { return nil }
    guard let dossiers else {
      return try await slots.withSlot {
        // Release the memory of one lookup, because the next may run on another thread.
        defer { ProcessMemory.giveBack() }
        return try await ledger.pool.read { session throws(DatabaseError) in
          try Self.large(matches, request, document, in: session)
        }
      }
    }
    var page = LookupPage(request, document)
    for dossier in dossiers {
      page.begin(dossier.customers, in: dossier.environment)
      page.add(dossier)
    }
    return page.finish()
  }

  private static func large(
    _ matches: [IDResolution], _ request: Request, _ document: PurchaseDocument, in session: Session
  ) throws(DatabaseError) -> Answer {
    var page = LookupPage(request, document)
    for match in matches {
      page.begin(match.customers, in: match.environment)
      for place in match.pieces.indices {
        if Task.isCancelled { throw .abandoned("the lookup's caller is gone") }
        page.add(try LedgerStore.dossier(of: match, piece: place, app: request.app, in: session))
      }
    }
    return page.finish()
  }
}

private struct LookupPage {
  private let request: PurchaseLookup.Request
  private let document: PurchaseDocument
  private var answer = PurchaseLookup.Answer()
  private var ends = PageCursor()
  private var hasMore = false
  private var current: (page: ResultPage, environment: Environment, customers: [String: Set<CustomerNode>])?

  init(_ request: PurchaseLookup.Request, _ document: PurchaseDocument) {
    self.request = request
    self.document = document
  }

  mutating func begin(_ customers: [String: Set<CustomerNode>], in environment: Environment) {
    end()
    let ends = request.cursor.map { $0.ends[environment] ?? [:] }
    current = (
      ResultPage(
        document, on: request.id, of: customers, in: environment, request.extent, limit: request.limit,
        claimBytes: PurchaseLookup.claimBytes, after: ends),
      environment, customers
    )
  }

  mutating func add(_ piece: CustomerRecord) { current?.page.add(piece) }

  mutating func finish() -> PurchaseLookup.Answer {
    end()
    if hasMore { answer.next = ends.text(of: request.name) }
    return answer
  }

  private mutating func end() {
    guard let (page, environment, customers) = current else { return }
    current = nil
    var ended = page
    let (object, ends, goesOn) = ended.finish()
    answer.results.append(PurchaseLookup.Result(environment: environment, customers: customers, object: object))
    self.ends.ends[environment] = ends
    hasMore = hasMore || goesOn
  }
}
