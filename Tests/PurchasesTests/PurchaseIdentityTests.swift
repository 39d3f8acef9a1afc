@Suite struct `A purchase's identity` {
  @Test(
    arguments: [
      ("a shared transaction id", [("", "7", nil), ("10", "7", nil)], ["10"]),
      ("another transaction id", [("", "7", nil), ("10", "8", nil)], ["", "10"]),
      ("Xcode's \"0\" is none", [("", "0", nil), ("10", "0", nil)], ["", "10"]),
      ("a restore: another transaction id, the same second", [("p1000", "7", 1_000), ("10", "8", 1_049)], ["10"]),
      ("another second", [("p1000", "7", 1_000), ("10", "8", 2_000)], ["10", "p1000"]),
      ("a receipt's second and a payload's millisecond", [("p1000", nil, 1_000), ("p1049", nil, 1_049)], ["p1000"]),
      ("no line and a derived one", [("", "7", nil), ("p1000", "7", 1_000)], ["p1000"]),
      ("by way of a third", [("", "7", nil), ("p1000", "7", 1_000), ("10", "8", 1_000)], ["10"]),
      ("named lines stay apart", [("10", "7", 1_000), ("11", "7", 1_000)], ["10", "11"]),
      (
        "between two named lines: the smaller", [("p1000", "7", 1_000), ("11", "7", nil), ("10", nil, 1_000)],
        ["10", "11"]
      ),
      ("nothing in common", [("", nil, nil), ("10", nil, nil)], ["", "10"]),
    ] as [(String, [(line: String, transaction: String?, date: Int64?)], [String])])
  func `is one for one charge`(why: String, told: [(line: String, transaction: String?, date: Int64?)], lines: [String])
  {
    let statements = told.enumerated().map { number, told in
      var values: [PurchaseField: JSONValue] = [:]
      values[.transactionId] = told.transaction.map(JSONValue.string)
      values[.purchaseDate] = told.date.map(JSONValue.integer)
      return said(Source.allCases.reversed()[number], at: 10, line: told.line, values)
    }
    for statements in [statements, statements.reversed()] {
      #expect(Purchase.fold(statements, rules: purchaseRules).map(\.key.line.text).sorted() == lines)
    }
  }

  @Test(arguments: [("p1049", "p1000", ["p1000"]), ("", "p1000", ["p1000"]), ("p1000", "", ["p1000"])])
  func `takes the better line of a claim, and is one with it`(signed: String, claimed: String, lines: [String]) {
    func statement(_ source: Source, _ line: String) -> PurchaseStatement {
      said(source, at: 10, line: line, [.transactionId: "7", .purchaseDate: 1_049])
    }
    let purchases = Purchase.fold(
      [statement(.verifiedReceipt, signed), statement(.notificationV1, claimed)], rules: purchaseRules)
    #expect(purchases.map(\.key.line.text) == lines)
  }

  /// The line by which a signed purchase is shown is one that somebody signed.
  @Test(arguments: ["p1000", ""], ["10", "p1049"])
  func `is named by no claim`(signed: String, claimed: String) throws {
    func statement(_ source: Source, _ line: String) -> PurchaseStatement {
      said(source, at: 10, line: line, [.transactionId: "7", .purchaseDate: 1_049])
    }
    let told = Purchase.fold(
      [statement(.verifiedReceipt, signed), statement(.notificationV1, claimed)], rules: purchaseRules)
    // What is claimed of it is shown beside it all the same.
    let purchase = try #require(told.count == 1 ? told.first : nil)
    #expect(purchase.signedKey.line.text == signed)
    #expect(purchase.signed?.key.line.text == signed)
    #expect(purchase.shown.key.line.text == signed)
  }

  /// Not by the better of what others say of it either.
  @Test func `is named by itself where nothing is signed`() throws {
    let claimed = Purchase.fold(
      [
        said(.verifyReceiptAnswer, at: 10, line: "p1000", [.transactionId: "7"]),
        said(.notificationV1, at: 10, line: "10", [.transactionId: "7"]),
      ], rules: purchaseRules)
    let purchase = try #require(claimed.count == 1 ? claimed.first : nil)
    #expect(purchase.signed == nil && purchase.signedKey == purchase.key && purchase.key.line.text == "10")
  }

  @Test func `never makes one of two signed purchases because a claim says so`() {
    let signed = [
      said(.verifiedReceipt, at: 10, line: "p1000", [.transactionId: "7", .purchaseDate: 1_000]),
      said(.verifiedReceipt, at: 10, line: "p9000", [.transactionId: "8", .purchaseDate: 9_000]),
    ]
    for line in ["", "p1000", "p9000", "10"] {
      let claim = said(.notificationV1, at: 20, line: line, [.transactionId: "8", .purchaseDate: 1_000])
      let purchases = Purchase.fold(signed + [claim], rules: purchaseRules).compactMap(\.signed)
      #expect(purchases.map(\.purchaseDate?.sinceEpoch) == [1_000, 9_000], "\(line)")
    }
  }

  @Test func `does not cross originalTransactionIds, environments or apps`() {
    var elsewhere = said(at: 1, line: "10", [.transactionId: "7"])
    elsewhere.key.app = "com.example.other"
    let purchases = Purchase.fold(
      [
        said(at: 1, line: "", [.transactionId: "7"]), said(at: 1, line: "10", original: "2", [.transactionId: "7"]),
        said(at: 1, line: "10", environment: .sandbox, [.transactionId: "7"]), elsewhere,
      ], rules: purchaseRules)
    #expect(purchases.count == 4)
  }

  @Test func `brings a refund told of the named line to what was told of the unnamed one`() {
    let purchases = Purchase.fold(
      [
        said(.notificationV1, at: 10, line: "p1000", [.transactionId: "7", .purchaseDate: 1_000, .expiresDate: 9_000]),
        said(.signedV2, at: 20, line: "10", [.transactionId: "8", .purchaseDate: 1_000, .revocationDate: 2_000]),
      ], rules: purchaseRules)
    #expect(purchases.map(\.revocationDate) == [Timestamp(2_000)])
    #expect(purchases.map(\.expiresDate) == [Timestamp(9_000)])
  }
}
