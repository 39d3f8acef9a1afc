import HTTPServer
import JSON
import Time

/// What faults make of an answer.
enum FaultyResponse {
  /// The answer that is given in place of any other, if a fault asks for one.
  static func replacement(_ faults: [Fault], at now: Timestamp) -> HTTPResponse? {
    for fault in faults {
      switch fault.kind {
      case .rateLimited:
        var response = SimulatedAPIResponse.refusal(.rateLimitExceeded)
        response.headers.append("Retry-After", String((now + .milliseconds(fault.value)).sinceEpoch))
        return response
      case .serverError:
        // What stands before Apple's servers answers in its own way.
        guard fault.value == 500 else {
          return HTTPResponse(
            status: Int(fault.value), headers: ["Content-Type": "text/html"], body: Array("<html></html>".utf8))
        }
        return SimulatedAPIResponse.refusal(.generalInternalRetryable)
      case .unauthorized: return SimulatedAPIResponse.unauthorized
      default: continue
      }
    }
    return nil
  }

  /// The answer as it arrives: late, cut, spoilt or not at all.
  static func arrival(of response: HTTPResponse, _ faults: [Fault]) async -> HTTPResponse {
    var response = response
    for fault in faults {
      switch fault.kind {
      case .slow: await wait(fault.value)
      case .stalled:
        await wait(fault.value)
        response.ending = .silent
      case .reset: response.ending = .silent
      case .truncated: response.ending = .cut(after: min(Int(fault.value), max(0, response.body.count - 1)))
      // Shorter too: OCSP answers end with certificates that nobody needs, and whose last bytes may be anything.
      case .malformed: response.body = Array(response.body.dropLast(3)) + Array(",]".utf8)
      default: continue
      }
    }
    return response
  }

  /// Of the machine's time: how slow an answer is does not depend on the world's.
  private static func wait(_ milliseconds: Int64) async {
    // Cancelled when the server stops; the answer is dropped then.
    try? await Task.sleep(for: .milliseconds(milliseconds))
  }
}
