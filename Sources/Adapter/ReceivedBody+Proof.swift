import JSON
import Receipts

extension ReceivedBody {
  package enum Proof: Sendable {
    /// A receipt or a signed payload.
    case signature
    /// A body that may contain signed payloads.
    case signatures
    /// An unproven V1 body, verifyReceipt response or ID.
    ///
    /// A signed payload in it is never read.
    case claim
  }

  /// The possible proof of the body as evidence; `nil` if it is unreadable.
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
