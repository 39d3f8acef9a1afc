package import Signing
import Wire

/// One page as it came.
package struct Page<Source: PageSource>: Sendable {
  /// In Apple's order; a row that was on an earlier page already may be there again, with newer data.
  package let items: [Source.Item]
  /// How many of the items were on an earlier page of this walk.
  package let repeated: Int
  /// Where to resume: stored by the caller once the page's items are.
  package let cursor: String?
  package let hasMore: Bool
  /// Whether Apple did not accept the cursor that was resumed at, so that this walk began at the beginning.
  package let isFromBeginning: Bool
  package let reply: APIResponse<Source.Answer>
}

/// The pages of a list, one call each, made when the next is asked for.
///
/// Apple sorts by the time of the last change, so rows move and repeat while one walks: what counts of two rows of one
/// id is the one signed later. A walk that makes no progress, or more pages than the limit, ends with `endlessPaging`, after
/// the pages that there were.
package struct Pages<Source: PageSource>: AsyncSequence, Sendable {
  package typealias Element = Page<Source>

  let source: Source
  let client: AppStoreClient
  let credentials: AppCredentials
  let environment: APIEnvironment
  let verifier: SignedDataVerifier
  let priority: RateLimiter.Priority
  let start: String?
  let limit: Int

  /// - Parameters:
  ///   - start: the cursor of the last page that was stored; nil for all.
  ///   - limit: pages of one walk.
  package init(
    _ source: Source, _ client: AppStoreClient, as credentials: AppCredentials, in environment: APIEnvironment,
    verifiedBy verifier: SignedDataVerifier, _ priority: RateLimiter.Priority = .bulk, resumingAt start: String? = nil,
    limit: Int = 10_000
  ) {
    self.source = source
    self.client = client
    self.credentials = credentials
    self.environment = environment
    self.verifier = verifier
    self.priority = priority
    self.start = start
    self.limit = limit
  }

  package func makeAsyncIterator() -> Iterator { Iterator(pages: self, cursor: start) }

  package struct Iterator: AsyncIteratorProtocol {
    private let pages: Pages
    private var cursor: String?
    private var isOver = false
    private var walked = 0
    private var cursors: Set<String> = []
    private var seen: Set<String> = []
    private var isFromBeginning = false
    /// Why nothing comes after the page that was given last.
    private var end: APIError?

    fileprivate init(pages: Pages, cursor: String?) {
      self.pages = pages
      self.cursor = cursor
    }

    /// The next page; nil after the last.
    ///
    /// Throws `APIError`, and after that nothing more comes.
    package mutating func next() async throws -> Page<Source>? {
      if isOver { return nil }
      isOver = true
      if let end { throw end }
      guard walked < pages.limit else { throw endless("\(walked) pages and no end") }
      let reply = try await fetch()
      walked += 1
      let verifier = ItemVerifier(
        verifier: pages.verifier, bundleID: pages.credentials.bundleID, environment: pages.environment,
        now: reply.receivedAt)
      let items = pages.source.items(of: reply.answer, verifier)
      let new = items.filter { pages.source.identity(of: $0).map { seen.insert($0).inserted } ?? true }.count
      let (following, hasMore) = pages.source.cursor(of: reply.answer)
      isOver = !hasMore
      if let following, !following.isEmpty {
        cursor = following
        // What is on this page counts all the same: it is given, and the failure after it.
        if hasMore, !cursors.insert(following).inserted, new == 0 { end = endless("a page that leads to itself") }
      } else if hasMore {
        end = endless("more pages, but no word of where")
      }
      return Page(
        items: items, repeated: items.count - new, cursor: cursor, hasMore: hasMore,
        isFromBeginning: isFromBeginning, reply: reply)
    }

    /// The reply of the page at the cursor; a stored cursor that Apple does not accept begins from the beginning, once.
    private mutating func fetch() async throws(APIError) -> APIResponse<Source.Answer> {
      do throws(APIError) {
        return try await send()
      } catch {
        let isStale = [4_000_005, 4_000_014, 4_000_017].contains(error.errorCode)
        guard isStale, walked == 0, cursor != nil, !isFromBeginning else { throw error }
        cursor = nil
        isFromBeginning = true
        return try await send()
      }
    }

    private func send() async throws(APIError) -> APIResponse<Source.Answer> {
      try await pages.client.send(
        pages.source.call(after: cursor), as: pages.credentials, in: pages.environment, pages.priority)
    }

    private func endless(_ detail: String) -> APIError {
      var failure = APIError(.endlessPaging, pages.source.call(after: nil).endpoint, detail)
      failure.environment = pages.environment
      return failure
    }
  }
}
