package import JSON
import Wire

/// What to do about a consumption request; made from values alone.
package enum ConsumptionDecision: Equatable, Sendable {
  /// Apple is to be told this.
  case tell(JSONObject)
  /// Apple is deliberately told nothing.
  case decline(String)
  /// Nobody could say; it is asked again while there is time.
  case again(String)

  /// By what Apple would take and the customer consented to.
  package init(_ answer: JSONObject) {
    let request = ConsumptionRequest(answer)
    guard request.customerConsented != false else {
      self = .decline("the customer did not consent")
      return
    }
    let problems = request.problems
    self = problems.isEmpty ? .tell(answer) : .again("not to be sent: \(problems.joined(separator: "; "))")
  }

  /// By what the app's back end answered: 200 with the answer, or `{"decline": "why"}`; 204 to tell Apple nothing.
  package init(status: Int, body: [UInt8]) {
    switch status {
    case 204: self = .decline("the back end declines")
    case 200:
      guard let object = try? JSONReader.read(body).object else {
        self = .again("the back end's response is not a JSON object")
        return
      }
      if let reason = object["decline"]?.string {
        self = .decline("the back end declines: \(reason)")
      } else {
        self.init(object)
      }
    default: self = .again("the back end answers with status \(status)")
    }
  }
}
