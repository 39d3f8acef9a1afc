@Suite(
  "A composed answer beside Apple's", .enabled(if: Samples.directory != nil, "no ../shared/samples beside the project"))
struct RealPairTests {
  static let composer: AnswerComposer = {
    do { return AnswerComposer(try ComposingRules(choosing: [])) } catch { preconditionFailure("\(error)") }
  }()

  @Test(arguments: RealPairs.all)
  func `differs in nothing`(pair: RealPairs.Pair) throws {
    let report = try #require(try RealPairs.report(pair, Self.composer))
    #expect(report.different == [])
    let sum = report.exact + report.derived + report.echoed + report.unavailable + report.different.count
    #expect(sum == report.fields && report.fields > 25)
  }
}
