@Suite struct `The tables of the App Store Server API` {
  @Test func `have Apple's 87 error codes, each with the status in its number`() {
    #expect(APIErrorCode.allCases.count == 87)
    #expect(Set(APIErrorCode.allCases.map(\.status)) == [400, 403, 404, 409, 429, 500])
    #expect(APIErrorCode.transactionIdNotFound.rawValue == 4_040_010)
    #expect(APIErrorCode.transactionIdNotFound.message == "Transaction id not found.")
  }

  @Test func `know which errors may be tried again`() {
    let retryable = APIErrorCode.allCases.filter(\.isRetryable).map(\.rawValue)
    #expect(retryable == [4_040_002, 4_040_004, 4_040_006, 5_000_001])
  }

  @Test func `have 17 paths`() { #expect(APIOperation.allCases.count == 17) }

  @Test(arguments: APIOperation.allCases)
  func `find every operation by method and path`(operation: APIOperation) throws {
    let words = operation.rawValue.split(separator: " ").map(String.init)
    var (path, expected): (String, [String]) = ("", [])
    for segment in words[1].split(separator: "/") {
      if segment == "{}" { expected.append("p\(expected.count)") }
      path += "/" + (segment == "{}" ? "p\(expected.count - 1)" : String(segment))
    }
    let found = try #require(APIOperation.find(method: words[0], path: path))
    #expect(found.operation == operation)
    #expect(found.parameters == expected)
  }

  @Test(arguments: [
    ("GET", "/inApps/v3/history/1"), ("POST", "/inApps/v2/history/1"), ("GET", "/inApps/v2/history/"),
    ("GET", "/inApps/v2/history/1/2"), ("GET", "/"),
  ])
  func `have nothing elsewhere`(method: String, path: String) {
    #expect(APIOperation.find(method: method, path: path) == nil)
  }
}
