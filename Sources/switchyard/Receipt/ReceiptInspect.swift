import Backfill
import JSON
import Receipts
import Runtime
import Signing

/// `switchyard receipt inspect`: verifies that a receipt is Apple's, and lists its purchases.
///
/// Keys, reasons and exit statuses are stable.
struct ReceiptInspect {
  static let command = Command(
    "inspect", "Prove receipts and print every purchase in them.",
    discussion: """
      FILE holds one receipt: of an app or of an iOS 6 transaction, as bytes or in base64, also damaged in the \
      usual ways; - is stdin. The signature is verified at the receipt's own date. Exit status: 0 when all are verified, 3 \
      when some are refused, 1 when none can be read.
      """,
    whenStopped: "The other files were not read.",
    examples: [
      Command.Example("switchyard receipt inspect receipt.b64"),
      Command.Example("switchyard receipt inspect --json --app com.example.app *.b64", "a line each"),
      Command.Example("switchyard receipt inspect --root simulator.der -", "other roots than Apple's"),
    ],
    options: [
      JSONOutput.option,
      .value("root", "FILE", repeats: true, "Trust exactly these roots instead of Apple's (DER or PEM)."),
      .value(
        "signer", "SHA256", repeats: true,
        "Trust this signer of iOS 6 receipts of version 2 too, by its certificate's fingerprint."),
      .value("app", "APP", formerly: "bundle-id", "Refuse what is of another app."),
    ],
    arguments: [Positional("FILE", count: .atLeastOne, "The receipts, or - for stdin.")]
  ) { arguments, terminal in
    try ReceiptInspect(arguments).run(arguments.positionals, terminal)
  }

  private static let inputLimit = 32 << 20

  private let reader: ReceiptReader
  private let bundleID: String?
  private let wantsJSON: Bool

  private init(_ arguments: ParsedArguments) throws {
    reader = ReceiptReader(trust: try ReceiptTrustOptions.trust(arguments))
    bundleID = arguments.value("app")
    wantsJSON = arguments.wantsJSON
  }

  private func run(_ files: [String], _ terminal: Terminal) throws -> ExitStatus {
    var (verified, readable, inspected) = (0, 0, 0)
    for file in files where !Task.isCancelled {
      let document = document(of: file)
      // The stop interrupted this receipt's read, so its result is unknown.
      if Task.isCancelled, !document.isReadable { break }
      inspected += 1
      if document.isVerified { verified += 1 }
      if document.isReadable { readable += 1 }
      if wantsJSON { try terminal.write(document.json) } else { try terminal.write(document.text(for: terminal)) }
    }
    if inspected < files.count {
      terminal.note("\(inspected) of \(files.count) files inspected, \(inspected - verified) refused")
      if wantsJSON {
        let summary: JSONObject = ["inspected": .integer(Int64(inspected)), "verified": .integer(Int64(verified))]
        try terminal.write(summary.notingStop)
      }
    } else if files.count > 1, verified < files.count {
      terminal.note("\(files.count - verified) of \(files.count) refused")
    }
    return verified == files.count ? .done : readable == 0 ? .failed : .doneWithRejects
  }

  private func document(of file: String) -> ReceiptDocument {
    do throws(Input.InputError) {
      let bytes = try Input.read(file, limit: Self.inputLimit)
      let text = SignedMember.all(in: bytes[...]).first?.text ?? Array(bytes[...].withoutDataURI)
      return ReceiptDocument(file: file, reading: reader.read(text, expecting: bundleID))
    } catch {
      return ReceiptDocument(file: file, unreadable: "\(error)")
    }
  }
}

/// The trust of receipts: Apple, or exactly the given roots.
enum ReceiptTrustOptions {
  static func trust(_ arguments: ParsedArguments) throws -> ReceiptTrust {
    var roots: [RootCertificate] = []
    for file in arguments.values("root") { roots += try TrustOptions.read(file) }
    return try adding(signersOf: arguments, to: roots.isEmpty ? .apple : ReceiptTrust(exactly: roots))
  }

  /// Returns the trust with the named signers of iOS 6 receipts.
  static func adding(signersOf arguments: ParsedArguments, to trust: ReceiptTrust) throws -> ReceiptTrust {
    var signers: [Digest] = []
    for text in arguments.values("signer") {
      guard let digest = Digest(hex: text.replacing(":", with: "")) else {
        throw UsageError(
          .invalidValue, "--signer takes a SHA-256 fingerprint, 64 hexadecimal digits.", path: arguments.path)
      }
      signers.append(digest)
    }
    return trust.adding(version2Signers: signers)
  }
}
