import Adapter
import JSON
package import Ledger
import Runtime

extension StoredMessage {
  /// Whether more than a claim vouches for it: Apple's signature, or that we fetched it from Apple.
  ///
  /// Told also of a body that cannot be read any more, and by what was accepted: a signed payload was verified then. A receipt
  /// inside a V1 body proves itself, not the body.
  package var isProven: Bool {
    switch message.kind {
    case .verifyReceiptAnswer, .apiAnswer, .notificationHistory, .verifiedReceipt: true
    case .notification: hasSignedPayload
    case .evidence: isSignedEvidence
    }
  }

  /// Whether the outermost object has a text of this name, which makes it a V2 notification.
  private var hasSignedPayload: Bool {
    let name = "signedPayload"
    do throws(JSONError) {
      return try JSONReader.text(of: name, in: message.body, longest: message.body.count, limits: .stored) != nil
    } catch {
      // Not even the ends of its texts are found: a damaged row, which is none of a stranger's doing.
      let isNamed = message.body.span.firstRange(of: Array(name.utf8).span, from: 0, before: message.body.count) != nil
      return error.code != .duplicateKey && isNamed
    }
  }

  /// Whether it may be a receipt, or holds a JWS where one is read; else it is a V1 body, an answer or an id that somebody
  /// handed in, whatever stands in it beside that.
  private var isSignedEvidence: Bool {
    let body = message.body
    switch ReceivedBody(kept: body).proof {
    case .signature: return true
    case .signatures: return !CompactBody(body).headers.isEmpty
    case .claim: return false
    case nil: break
    }
    // Nothing can be read in it: what it once was is told by its bytes.
    let isObject = body.first { $0 != 0x20 && $0 != 0x0A && $0 != 0x0D && $0 != 0x09 } == UInt8(ascii: "{")
    let request = Array("receipt-data".utf8)
    return !isObject || !CompactBody(body).headers.isEmpty
      || body.span.firstRange(of: request.span, from: 0, before: body.count) != nil
  }
}
