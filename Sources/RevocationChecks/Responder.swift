package import HTTPClient
package import Signing
package import Time

/// Asks an issuer's OCSP responder about one of its certificates.
package struct Responder: Sendable {
  /// Why nobody can say anything about a certificate.
  package enum Failure: Error, Equatable, Sendable, CustomStringConvertible {
    /// The certificate names no responder.
    case noResponder
    case noAnswer(HTTPClientError.Code)
    case status(Int)
    /// An answer that cannot be believed.
    case unbelievable(OCSPError)

    package var description: String {
      switch self {
      case .noResponder: "the certificate names no responder"
      case .noAnswer(let code): "no answer: \(code.rawValue)"
      case .status(let status): "the responder answers with status \(status)"
      case .unbelievable(let error): "\(error)"
      }
    }

    /// A short word for metrics.
    package var word: String {
      switch self {
      case .noResponder: "noResponder"
      case .noAnswer(let code): code.rawValue
      case .status: "status"
      case .unbelievable(let error): error.code.rawValue
      }
    }
  }

  private let client: HTTPClient
  private let deadline: Interval

  /// - Parameter deadline: from the question to the last byte of the answer.
  package init(client: HTTPClient, deadline: Interval = .seconds(10)) {
    self.client = client
    self.deadline = deadline
  }

  /// Asks about the certificates that are due, one after the other, notes the answers, and returns their number.
  package func ask(
    _ revocations: RevocationCache, clock: WallClock,
    telling tell: (RevocationCache.PendingCheck, Result<OCSPAnswer.Status, Failure>, _ isNews: Bool) async -> Void
  ) async -> Int {
    var count = 0
    for question in revocations.due(at: clock.now()) where !Task.isCancelled {
      count += 1
      do throws(Failure) {
        let status = try await ask(question, clock: clock)
        await tell(question, .success(status), revocations.note(status, of: question, at: clock.now()))
      } catch {
        if error == .noResponder {
          revocations.note(.unknown, of: question, at: clock.now())
        } else {
          revocations.noteFailure(of: question, at: clock.now())
        }
        await tell(question, .failure(error), false)
      }
    }
    return count
  }

  /// The first responder that the certificate names is asked, as Apple's own libraries do.
  package func ask(
    _ question: RevocationCache.PendingCheck, clock: WallClock
  ) async throws(Failure) -> OCSPAnswer.Status {
    guard let url = question.certificate.ocspURLs.first else { throw .noResponder }
    let request: OCSPRequest
    do throws(OCSPError) {
      request = try OCSPRequest(for: question.certificate, issuer: question.issuer)
    } catch { throw .unbelievable(error) }
    let response: ClientResponse
    do throws(HTTPClientError) {
      response = try await client.send(
        ClientRequest(
          method: "POST", url: url,
          headers: [(name: "Content-Type", value: "application/ocsp-request")], body: request.der,
          deadline: deadline, responseLimit: OCSPRequest.answerLimit))
    } catch { throw .noAnswer(error.code) }
    guard response.status == 200 else { throw .status(response.status) }
    do throws(OCSPError) {
      return try request.answer(in: response.body, at: clock.now()).status
    } catch { throw .unbelievable(error) }
  }
}
