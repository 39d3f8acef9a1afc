@Suite(
  "A composed answer beside Apple's", .enabled(if: Samples.directory != nil, "no ../shared/samples beside the project"))
struct RealPairTests {
  static let composer: ResponseComposer = {
    do { return ResponseComposer(try ComposerRules(choosing: [])) } catch { preconditionFailure("\(error)") }
  }()

  @Test(arguments: RealPairs.all)
  func `differs in nothing`(pair: RealPairs.Pair) throws {
    let report = try #require(try RealPairs.report(pair, Self.composer))
    #expect(report.different == [])
    let sum = report.exact + report.derived + report.echoed + report.unavailable + report.different.count
    #expect(sum == report.fields && report.fields > 25)
  }

  @Test func `of a receipt that Apple no longer knows differs in nothing`() throws {
    let place = "../cases/public-reports/04-receipt-apple-no-longer-knows"
    let (data, answer) = (
      try #require(Samples.bytes("\(place)/receipt.b64")), try #require(Samples.bytes("\(place)/answer.json"))
    )
    let report = try Fidelity(Self.composer).report(
      receipt: try #require(ReceiptReader().read(data).receipt),
      receiptData: String(decoding: data.filter { $0 > 0x20 }, as: UTF8.self),
      answer: try #require(try JSONReader.read(answer).object))
    #expect(report.different == [])
    #expect(report.fields > 200)
  }
}
