@Suite struct `switchyard simulate purchase` {
  @Test func `tells one purchase in every form, whose ids differ where Apple's do`() async throws {
    let place = TemporaryDirectory()
    let run = try await Program().run(
      "simulate", "purchase", "plus.monthly", "--days", "10", "--restores", "2", "--data-dir", place.path)
    #expect(run.status == 0, "\(run.notes)")
    let forms = try #require(try run.objects.first)
    let transaction = try #require(forms["v2"]?.object?["transaction"]?.object)
    let answer = try #require(forms["v1"]?.object?["verifyReceipt"]?.object)
    let row = try #require(answer["latest_receipt_info"]?.array?.first?.object)
    for (v1, v2) in [
      ("original_transaction_id", "originalTransactionId"), ("web_order_line_item_id", "webOrderLineItemId"),
      ("product_id", "productId"),
    ] {
      #expect(row[v1] != nil && row[v1] == transaction[v2])
    }
    #expect(row["transaction_id"] != transaction["transactionId"])
    let old = forms["v1"]?.object?["verifyReceiptOfTransaction"]?.object?["receipt"]?.object
    #expect(old?["transaction_id"] == row["transaction_id"])
    let notification = forms["v1"]?.object?["notifications"]?.array?.first?.object
    #expect(notification?["notification_type"] == "INITIAL_BUY")
    #expect(forms["v2"]?.object?["notification"]?.object?["subtype"] == "INITIAL_BUY")

    // What the program makes it reads itself.
    let receipts = try #require(forms["receipts"]?.object)
    let root = try #require(receipts["rootDER"]?.string.flatMap { Base64.standard.decode(Array($0.utf8)) })
    let rootPath = place.file("root.der", root)
    for kind in ["app", "transaction"] {
      let path = place.file("\(kind).b64", Array(try #require(receipts[kind]?.string).utf8))
      let read = try await Program().run("receipt", "inspect", "--root", rootPath, path)
      #expect(read.status == 0, "\(read.notes)")
    }
  }

  /// The simulator's own answer shares no code with the one that is composed from its files.
  @Test(arguments: [[], ["--unpaid", "--days", "40"], ["--refund"], ["--offer", "introductory"]])
  func `makes files from which verifyReceipt is answered as the simulator does`(options: [String]) async throws {
    let place = TemporaryDirectory()
    let run = try await Program().run(
      ["simulate", "purchase", "plus.monthly", "--data-dir", place.path] + options)
    let forms = try #require(try run.objects.first, "\(run)")
    let (v2, receipts) = (try #require(forms["v2"]?.object), try #require(forms["receipts"]?.object))
    let theirs = try #require(forms["v1"]?.object?["verifyReceipt"]?.object)
    let receiptRoot = try #require(receipts["rootDER"]?.string.flatMap { Base64.standard.decode(Array($0.utf8)) })
    let signedRoot = try #require(v2["signedTransactionInfo"]?.string.flatMap(Self.root))
    let receipt = place.file("app.b64", Array(try #require(receipts["app"]?.string).utf8))
    let lines = ["signedTransactionInfo", "signedRenewalInfo"].compactMap { v2[$0]?.string }
    let jws = place.file("lines.jws", Array(lines.joined(separator: "\n").utf8))
    let history: JSONObject = ["signedTransactions": .array([v2["signedTransactionInfo"] ?? .null])]
    let statuses: JSONObject = [
      "data": [
        [
          "lastTransactions": [
            [
              "signedTransactionInfo": v2["signedTransactionInfo"] ?? .null,
              "signedRenewalInfo": v2["signedRenewalInfo"] ?? .null,
            ]
          ]
        ]
      ]
    ]
    let answers =
      ["--facts", place.file("history.json", history.encoded())]
      + ["--facts", place.file("statuses.json", statuses.encoded())]
    let roots = ["--root", place.file("receipts.der", receiptRoot), "--root", place.file("signed.der", signedRoot)]
    let at = try #require(theirs["receipt"]?.object?["request_date_ms"]?.string)
    for facts in [["--facts", jws], answers] {
      let ours = try await Program().run(["convert", "--to", "verifyReceipt", receipt, "--at", at] + facts + roots)
      let answer = try #require(try ours.objects.first, "\(ours)")
      for key in ["status", "environment", "receipt", "latest_receipt_info", "pending_renewal_info"] {
        // Members of a row stand in any order.
        #expect(answer[key]?.canonicallyEncoded() == theirs[key]?.canonicallyEncoded(), "\(key)")
      }
    }
    let alone = try await Program().run(["convert", "--to", "verifyReceipt", receipt, "--at", at] + roots)
    #expect(try alone.objects.first?["receipt"] == theirs["receipt"])
    let strange = try await Program().run(
      ["convert", "--json", "--to", "verifyReceipt", receipt, "--facts", receipt + ".none"] + roots)
    #expect(strange.status == 1 && strange.notes.contains("there is no file"), "\(strange)")
    let unproven = try await Program().run(["convert", "--json", "--to", "verifyReceipt", receipt])
    #expect(try unproven.objects.first?["error"]?.object?["code"] == "unknownRoot", "\(unproven)")
    let canonical = try await Program().run(["convert", receipt, "--facts", jws] + roots)
    #expect(canonical.status == 2 && canonical.notes.contains("--to verifyReceipt"), "\(canonical)")
  }

  /// The last certificate of a JWS's header.
  private static func root(_ jws: String) -> [UInt8]? {
    let header = jws.split(separator: ".").first.flatMap { Base64.url.decode(Array($0.utf8)) }
    let chain = header.flatMap { try? JSONReader.read($0).object?["x5c"]?.array }
    return chain?.last?.string.flatMap { Base64.standard.decode(Array($0.utf8)) }
  }
}
