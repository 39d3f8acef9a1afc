import HTTPServer
import JSON
import Time

enum FaultyResponse {
  static func replacement(_ faults: [Fault], at now: Timestamp) -> HTTPResponse? {
    for fault in faults {
      switch fault.kind {
      case .rateLimited:
        var response = SimulatedAPIResponse.refusal(.rateLimitExceeded)
        response.headers.append("Retry-After", String((now + .milliseconds(fault.value)).sinceEpoch))
        return response
      case .serverError:
        // Proxies before Apple's servers respond in their own format.
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

  /// Returns the response as it arrives: late, cut, damaged or missing.
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
      // Shorter too: OCSP responses end with unused certificates, whose last bytes may have any value.
      case .malformed: response.body = Array(response.body.dropLast(3)) + Array(",]".utf8)
      default: continue
      }
    }
    return response
  }

  /// Waits in the machine's time, because a response's delay does not depend on the world's.
  private static func wait(_ milliseconds: Int64) async {
    // Cancelled when the server stops; the response is dropped then.
    try? await Task.sleep(for: .milliseconds(milliseconds))
  }
}
