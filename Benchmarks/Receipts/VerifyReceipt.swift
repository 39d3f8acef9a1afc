import Receipts
import Signing
import Simulator

/// From the base64 of an app receipt to every purchase in it, proven, on one core.
///
/// 400 different receipts of three purchases through `ReceiptReader.read`, the signer known as it is after the first.
/// Against the ceiling of base64, SHA-256 and one RSA verification alone of the same receipts (`BareReceipts`). 40
/// rounds of each in turns; medians of the thread's time.
enum VerifyReceipt {
  private static let name = "receipt.verify"

  static let benchmark = Benchmark(
    name: name, summary: "a receipt of three purchases from its base64 to its facts, proven, on one core"
  ) { settings in
    let samples = try ReceiptSamples()
    let receipts = try samples.generate(400)
    let reader = ReceiptReader(trust: ReceiptTrust(exactly: [try samples.pki.trustedRoot()]))
    let bare = try BareReceipts(receipts, signer: samples.pki.leaf.certificate.der)
    let rounds = Rounds(count: 40)
    let (ours, ceiling) = try rounds.medians(
      {
        for receipt in receipts {
          guard case .verified(let verified) = reader.read(receipt.text),
            verified.receipt.originalTransactionIDs.count == 1
          else { throw BenchmarkError("a receipt was refused") }
        }
      }, { try bare.run() })
    let (unverified, _) = try rounds.medians(
      {
        for receipt in receipts { _ = try reader.readUnverified(receipt.text).get() }
      }, {})
    let count = Double(receipts.count)
    let size = receipts.reduce(0) { $0 + $1.text.count } / receipts.count
    let texts = [ours, ceiling, unverified].map { Figure.text($0 / count / 1_000) }
    settings.note("  \(size) bytes of base64; \(texts[0]) us, bare \(texts[1]) us, unverified \(texts[2]) us")
    return [
      Measurement(
        name: name, value: count / ours * 1e9, unit: "receipts/s", against: count / ceiling * 1e9,
        peer: "base64, SHA-256 and RSA alone", target: .atLeast(0.50)),
      Measurement(name: "receipt.read-unverified", value: count / unverified * 1e9, unit: "receipts/s"),
    ]
  }
}
