@Suite struct `What keys mean` {
  private let meanings = ["a": 1, "b": 2, "c": 3]

  @Test(arguments: [
    [["a", "b"], ["a", "b"]], [["a", "b", "c"], ["c", "a"], ["a", "b", "c"]], [["x", "a"], ["a", "x"], ["x", "a"]],
    [[], ["a"], ["b"]],
  ])
  func `is what a search finds, whatever the rows before`(rows: [[String]]) {
    var memory = KeyMemory<Int>()
    for row in rows {
      let found = row.indices.map { memory.meaning(of: row[$0], at: $0) { meanings[$0] } }
      #expect(found == row.map { meanings[$0] })
    }
  }

  @Test func `is searched once for rows of one shape, also where there is none`() {
    var memory = KeyMemory<Int>()
    var searched: [String] = []
    for _ in 0..<3 {
      for (place, key) in ["a", "x", "b"].enumerated() {
        _ = memory.meaning(of: key, at: place) { key in
          searched.append(key)
          return meanings[key]
        }
      }
    }
    #expect(searched == ["a", "x", "b"])
  }
}
