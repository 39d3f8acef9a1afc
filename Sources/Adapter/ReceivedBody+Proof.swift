import JSON
import Receipts

extension ReceivedBody {
  /// What may vouch for evidence, by what it is.
  package enum Proof: Sendable {
    /// It is a receipt or a signed payload.
    case signature
    /// It holds signed payloads, if any.
    case signatures
    /// Nothing: a V1 body, an answer of verifyReceipt or an id. A signed payload in it is never read.
    case claim
  }

  /// What may vouch for the body as evidence; nil for one that cannot be read.
  package var proof: Proof? {
    switch told {
    case .success(.receipt), .success(.jws): .signature
    case .success(.notificationV2): .signatures
    case .success(.notificationV1): .claim
    case .success(.object(let object)):
      if VerifyReceiptResponseReader.isAnswer(object) {
        .claim
      } else if object["receipt-data"]?.string != nil {
        .signature
      } else {
        switch SignedMember.all(in: object).first?.kind {
        case .receipt: .signature
        case .jws: .signatures
        case nil:
          TransactionIDSubmission.value(of: object) == nil && SubmissionReader.holdsSigned(object)
            ? .signatures : .claim
        }
      }
    case .failure: nil
    }
  }
}
