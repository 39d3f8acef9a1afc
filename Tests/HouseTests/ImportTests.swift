import Testing

/// The one-way order of docs/architecture.md: a room imports what stands above it in this list, never beside or below.
private let order: [Set<String>] = [
  ["Time", "Compression"], ["JSON"], ["Runtime", "Purchases"], ["Signing", "HTTPClient"],
  ["Wire", "Receipts", "Mappings", "Database", "HTTPServer", "Rollout"],
  ["Adapter", "LegacyAnswers", "AppStore", "Ledger", "Backfill"], ["Delivery", "Seeding"], ["Service", "Simulator"],
  ["switchyard"],
]

/// What may not be imported although it stands above, and why.
private let kept: [(room: String, away: Set<String>, because: String)] = [
  ("Purchases", ["Runtime", "Signing"], "pure values: no I/O, no clock"),
  ("Signing", ["Purchases", "Runtime"], "knows no purchases and no network"),
  ("HTTPClient", ["Purchases", "JSON"], "knows nothing of Apple"),
  ("HTTPServer", ["Purchases", "Signing", "HTTPClient"], "knows no route"),
  ("Database", ["Purchases", "Signing", "HTTPClient"], "knows no table"),
  ("Wire", ["Purchases", "Signing", "Runtime", "HTTPClient"], "decodes, judges nothing"),
  ("Receipts", ["Runtime", "HTTPClient"], "reads and proves, no I/O"),
  ("Mappings", ["Signing", "Runtime", "HTTPClient"], "declares, does nothing"),
  ("Ledger", ["Wire", "Receipts", "Mappings", "HTTPServer", "HTTPClient"], "knows no wire format"),
  ("Rollout", ["HTTPClient", "Runtime", "Signing", "Time"], "decides, does nothing; the ledger keeps stages"),
  ("Seeding", ["Adapter", "HTTPServer", "JSON", "Delivery"], "asks and settles; what an answer means others decide"),
  ("Delivery", ["Adapter", "Wire", "HTTPServer", "JSON"], "sends what is kept, as it is"),
  ("Compression", ["Signing", "Runtime", "Receipts"], "opens bytes, knows no file"),
  ("Backfill", ["Wire", "Mappings", "Database", "HTTPServer", "HTTPClient"], "knows receipts, no database"),
  ("AppStore", ["Database", "HTTPServer", "Purchases", "Receipts"], "asks Apple, knows nothing of what is stored"),
  ("Adapter", ["Database", "HTTPServer", "HTTPClient", "Runtime"], "no I/O"),
  (
    "LegacyAnswers", ["Database", "HTTPServer", "HTTPClient", "Runtime", "Signing"],
    "composes from values: no I/O, no clock, no database"
  ),
  (
    "Simulator", ["Ledger", "Adapter", "LegacyAnswers", "Database", "Purchases", "Receipts"],
    "stands for Apple, who knows nothing of us"
  ),
]

/// Where each C library may be touched.
private let touching: [String: Set<String>] = [
  "COpenSSL": ["Signing", "HTTPServer", "Benchmarks"], "CCurl": ["HTTPClient"], "CLinux": ["HTTPServer"],
  "CMariaDB": ["Database"], "CZlib": ["Compression"], "CZstd": ["Compression"],
]

/// The operating system, for rooms that live next to it.
private let platform: Set<String> = ["Glibc", "Dispatch"]
private let platformRooms: Set<String> = [
  "Runtime", "Signing", "HTTPClient", "HTTPServer", "Database", "Simulator", "Service", "switchyard", "Benchmarks",
]

@Suite struct `The rooms` {
  private let files = SourceFile.sources + SourceFile.all(below: "Benchmarks")

  @Test func `are read by these tests at all`() {
    #expect(files.count > 80)
    #expect(Set(files.flatMap(\.imports)).isSuperset(of: ["Time", "JSON", "COpenSSL", "Synchronization"]))
    let known = order.reduce(into: Set(["Benchmarks"])) { $0.formUnion($1) }
    #expect(Set(files.map(\.room)).isSubset(of: known), "a new room needs its place in the order")
  }

  @Test func `import one way`() {
    func level(_ room: String) -> Int? { order.firstIndex { $0.contains(room) } }
    let wrong = files.flatMap { file in
      file.imports.filter { imported in
        guard let above = level(imported), let here = level(file.room) else { return false }
        return above >= here
      }.map { "\(file.path) imports \($0)" }
    }
    #expect(wrong == [])
  }

  @Test func `keep away from what is none of their business`() {
    for (room, away, because) in kept {
      let wrong = files.filter { $0.room == room }.flatMap { file in
        away.intersection(file.imports).map { "\(file.path) imports \($0)" }
      }
      #expect(wrong == [], "\(room): \(because)")
    }
  }

  @Test func `touch C in five places`() {
    let wrong = files.flatMap { file in
      file.imports.filter { module in
        guard module.hasPrefix("C"), module.dropFirst().first?.isUppercase == true else { return false }
        return touching[module]?.contains(file.room) != true
      }.map { "\(file.path) imports \($0)" }
    }
    #expect(wrong == [])
  }

  @Test func `touch the operating system where they must, and Foundation nowhere`() {
    let wrong = files.flatMap { file in
      file.imports.filter { module in
        module.hasPrefix("Foundation") || (platform.contains(module) && !platformRooms.contains(file.room))
      }.map { "\(file.path) imports \($0)" }
    }
    #expect(wrong == [])
    #expect(SourceFile.everything.filter { $0.imports.contains("FoundationNetworking") }.map(\.path) == [])
  }
}
