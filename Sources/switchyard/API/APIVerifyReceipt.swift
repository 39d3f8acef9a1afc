import AppStore
import Database
import JSON
import Ledger
import Mappings
import Operations
import Purchases
import Receipts
import Runtime
import Seeding
import Signing
import Time
import Wire

/// `switchyard api verify-receipt`: Apple's own response for a receipt.
enum APIVerifyReceipt {
  static let command = Command(
    "verify-receipt", "Ask Apple's verifyReceipt about a receipt.",
    discussion: """
      RECEIPT is a file: base64, or the receipt's bytes; - is stdin. Apple is asked in the environment that the \
      receipt names, or in Production if it names none; --environment asks there first. Status 21007 or 21008 says \
      that the receipt belongs to the other environment: that one is asked then, and a line on stderr reports \
      it. No API key is needed. The shared secret is \
      the one that is sealed for --app, or the one in --shared-secret-file; without either none is sent, and Apple answers 21004 \
      to receipts with subscriptions. Nothing is stored. --json prints Apple's response unchanged: `switchyard \
      fidelity` compares it. Exit status: 0 Apple answered with the receipt (status 0 or 21006), 1 with another status, 7 later.
      """,
    examples: [
      Command.Example("switchyard api verify-receipt receipt.b64 --app com.example.app"),
      Command.Example("switchyard api verify-receipt receipt.b64 --shared-secret-file secret.txt --json > answer.json"),
      Command.Example("switchyard api verify-receipt --exclude-old-transactions --app com.example.app - < receipt.b64"),
    ],
    options: [
      .value("shared-secret-file", "FILE", "A file that holds only the app's shared secret."),
      .flag("exclude-old-transactions", "Ask only for the latest renewal of each subscription."),
    ],
    arguments: [Positional("RECEIPT", "The receipt, or - for stdin.")]
  ) { arguments, terminal in
    let bytes = try Input.read(arguments.positionals[0], limit: longest)
    let secret = try arguments.value("shared-secret-file").map { try SharedSecretFile.read($0) }
    let asking = try APIVerifyReceipt.Asking(bytes, arguments, terminal)
    guard let bundleID = arguments.value("app") else {
      return try await asking.run(password: secret?.text, sharing: nil)
    }
    guard secret == nil else {
      throw UsageError(.unexpectedValue, "Give --app or --shared-secret-file, not both.", path: arguments.path)
    }
    let options = try DatabaseOptions(arguments)
    return try await options.withDatabase(terminal) { configuration in
      let connection = try await Connection.open(configuration)
      try await options.prepare(connection)
      let sealed = try await SealedSecret.find(of: bundleID, arguments, options, connection, terminal)
      await connection.close()
      let pool = Pool(configuration)
      do {
        let status = try await asking.run(password: sealed, sharing: pool)
        await pool.close()
        return status
      } catch {
        await pool.close()
        throw error
      }
    }
  }

  /// Bytes; Apple accepts a request of 3,145,728.
  private static let longest = 3_145_728
}

extension APIVerifyReceipt {
  private enum SealedSecret {
    static func find(
      of bundleID: String, _ arguments: ParsedArguments, _ options: DatabaseOptions, _ connection: Connection,
      _ terminal: Terminal
    ) async throws -> String {
      let app = try await AppRecord.find(bundleID, connection).app
      let hasSecret = try await connection.read { session throws(DatabaseError) in
        try CredentialTable.has(.sharedSecret, of: app, in: session)
      }
      guard hasSecret else { throw NoSharedSecret(bundleID: bundleID) }
      let keys = try await MasterKeyOptions(arguments, database: options).keys(for: connection, terminal)
      let opened = try await connection.read { session throws(DatabaseError) in
        try CredentialTable.open(.sharedSecret, with: keys, in: session).opened
      }
      // The newest: an older one may end soon.
      guard let secret = opened.last(where: { $0.app == app.id })?.secret else {
        throw NoSharedSecret(bundleID: bundleID)
      }
      return String(decoding: secret, as: UTF8.self)
    }
  }

  private struct Asking {
    private let receipt: ReceiptRequest
    private let app: String
    private let first: APIEnvironment
    private let arguments: ParsedArguments
    private let terminal: Terminal

    init(_ bytes: [UInt8], _ arguments: ParsedArguments, _ terminal: Terminal) throws {
      // Only to choose the first environment: Apple judges the receipt.
      let read = ReceiptReader().read(bytes).receipt
      let isText = bytes.allSatisfy { $0 < 0x80 }
      let text = isText ? bytes.filter { $0 != 0x0D && $0 != 0x0A } : Base64.standard.encode(bytes)
      receipt = ReceiptRequest(
        receiptData: String(decoding: text, as: UTF8.self),
        excludeOldTransactions: arguments.flag("exclude-old-transactions"))
      app = arguments.value("app") ?? read?.bundleID ?? ""
      let named = try EnvironmentOption.environment(arguments).flatMap { APIEnvironment($0) }
      first = named ?? read?.claimedEnvironment.flatMap { APIEnvironment($0) } ?? .production
      (self.arguments, self.terminal) = (arguments, terminal)
    }

    func run(password: String?, sharing pool: Pool?) async throws -> ExitStatus {
      let line = try APIClientOptions(arguments, try AppleClient.hosts(arguments), sharing: pool)
      var asked = receipt
      asked.password = password
      let answer: ReceiptAnswer
      do throws(APIError) {
        answer = try await line.client.verifyReceipt(asked, app: app, along: EnvironmentSearch(known: first))
      } catch {
        await line.end()
        return try error.say(asJSON: arguments.wantsJSON, terminal)
      }
      await line.end()
      return try show(answer)
    }

    private func show(_ answer: ReceiptAnswer) throws -> ExitStatus {
      if answer.environment != first {
        terminal.note("\(first.rawValue) sent the receipt on: \(answer.environment.rawValue) answered")
      }
      if arguments.wantsJSON {
        // Apple's unchanged text, with terminal control characters in JSON escapes.
        let body = SafeText.escaped(lines: answer.body)
        try terminal.write(body + (body.last == UInt8(ascii: "\n") ? [] : [UInt8(ascii: "\n")]))
      } else {
        try terminal.write(text(answer))
      }
      if answer.row?.holdsData == true { return .done }
      return answer.asksAgain ? .externalLimit : .failed
    }

    private func text(_ answer: ReceiptAnswer) -> String {
      let status = answer.status.map { "\($0)" } ?? "none"
      var text = "status       \(status)\(answer.row.map { ": \($0.meaning)" } ?? "")\n"
      text += "answered by  \(answer.environment.rawValue)\n"
      let read = VerifyReceiptResponse(answer.json)
      let receipt = answer.json["receipt"]?.object
      if let app = receipt?["bundle_id"]?.string ?? receipt?["bid"]?.string { text += "app          \(app.plain)\n" }
      var table = TextTable([.init("WHERE"), .init("PRODUCT"), .init("TRANSACTION"), .init("BOUGHT"), .init("ENDS")])
      let flat = [("receipt", receipt?["transaction_id"] == nil ? nil : receipt.map { V1TransactionRow($0) })]
      let lists = [("in_app", read.receipt?.inApp), ("latest_receipt_info", read.latestReceiptInfo)]
      for (name, row) in flat { if let row { table.add(cells(name, row)) } }
      for (name, rows) in lists { for row in rows ?? [] { table.add(cells(name, row)) } }
      return text + "\n" + table.render(for: terminal)
    }

    private func cells(_ place: String, _ row: V1TransactionRow) -> [String] {
      [
        place, row.productID?.plain ?? "-", row.transactionID?.plain ?? "-", row.purchaseDate?.iso8601 ?? "-",
        row.expiresDate?.iso8601 ?? "-",
      ]
    }
  }
}

/// The app has no shared secret that this master key opens.
private struct NoSharedSecret: ExitStatusError, CustomStringConvertible {
  let bundleID: String

  var exitStatus: ExitStatus { .failed }
  var description: String {
    "\(bundleID) has no shared secret that opens here: `switchyard app secret \(bundleID) --shared-secret-file FILE`, or --shared-secret-file"
  }
}
