import Testing

/// The one-way order of docs/architecture.md: a module imports what stands above it in this list, never beside or below.
private let order: [Set<String>] = [
  ["Time", "Compression"], ["JSON"], ["Runtime", "Purchases"], ["Signing", "HTTPClient"],
  ["Wire", "Receipts", "Mappings", "Database", "HTTPServer", "Rollout"],
  ["Adapter", "LegacyAnswers", "AppStore", "Ledger", "Backfill"],
  ["Intake", "Delivery", "Seeding", "Answering", "Comparison"],
  ["Reconciliation", "ConsumptionAnswers", "RevocationChecks", "BulkMigration", "Shadow"], ["Service", "Simulator"],
  ["Operations"], ["switchyard"],
]

/// What may not be imported although it stands above, and why.
private let kept: [(module: String, away: Set<String>, because: String)] = [
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
  (
    "Answering", ["Adapter", "AppStore", "HTTPClient", "HTTPServer"], "decides and composes; asks nobody, knows no HTTP"
  ),
  ("Delivery", ["Adapter", "Wire", "HTTPServer", "JSON"], "sends what is kept, as it is"),
  (
    "Intake", ["Database", "HTTPServer", "HTTPClient", "AppStore"],
    "decides what is written; writes nothing, asks nobody"
  ),
  ("Reconciliation", ["Delivery", "HTTPClient", "HTTPServer"], "compares; over what it asks, it does not know"),
  ("ConsumptionAnswers", ["Adapter", "Intake", "Delivery", "HTTPServer"], "answers what is recorded"),
  (
    "BulkMigration", ["AppStore", "Delivery", "HTTPClient", "HTTPServer", "Seeding", "Wire"],
    "reads sources and hands out ids; asks nobody"
  ),
  ("RevocationChecks", ["Adapter", "AppStore", "Purchases", "HTTPServer"], "asks responders; knows no message"),
  (
    "Operations", ["AppStore", "Backfill", "Delivery", "HTTPClient", "HTTPServer", "Simulator", "Wire"],
    "changes what an operator asks for; who asks, and over what, it does not know"
  ),
  ("Compression", ["Signing", "Runtime", "Receipts"], "opens bytes, knows no file"),
  ("Backfill", ["Wire", "Mappings", "Database", "HTTPServer", "HTTPClient"], "knows receipts, no database"),
  ("AppStore", ["Database", "HTTPServer", "Purchases", "Receipts"], "asks Apple, knows nothing of what is stored"),
  ("Adapter", ["Database", "HTTPServer", "HTTPClient", "Runtime"], "no I/O"),
  (
    "LegacyAnswers", ["Database", "HTTPServer", "HTTPClient", "Runtime", "Signing"],
    "composes from values: no I/O, no clock, no database"
  ),
  (
    "Comparison", ["Database", "HTTPServer", "HTTPClient", "Runtime", "Signing", "Ledger"],
    "compares values: no I/O, no clock, no database"
  ),
  (
    "Shadow", ["AppStore", "HTTPClient", "HTTPServer", "Adapter", "Intake"],
    "compares beside the requests; asks nobody, knows no HTTP"
  ),
  (
    "Simulator", ["Ledger", "Adapter", "LegacyAnswers", "Database", "Purchases", "Receipts"],
    "stands for Apple, who knows nothing of us"
  ),
]

/// Where each C library may be touched.
private let touching: [String: Set<String>] = [
  "COpenSSL": ["Signing", "HTTPServer", "Benchmarks"], "CCurl": ["HTTPClient"], "CLinux": ["HTTPServer", "Runtime"],
  "CMariaDB": ["Database"], "CZlib": ["Compression"], "CZstd": ["Compression"],
]

/// The operating system, for modules that live next to it.
private let platform: Set<String> = ["Glibc", "Dispatch"]
private let platformModules: Set<String> = [
  "Runtime", "Signing", "HTTPClient", "HTTPServer", "Database", "Simulator", "Service", "switchyard", "Benchmarks",
]

@Suite struct `The modules` {
  private let files = SourceFile.sources + SourceFile.all(below: "Benchmarks")

  @Test func `are read by these tests at all`() {
    #expect(files.count > 80)
    #expect(Set(files.flatMap(\.imports)).isSuperset(of: ["Time", "JSON", "COpenSSL", "Synchronization"]))
    let known = order.reduce(into: Set(["Benchmarks"])) { $0.formUnion($1) }
    #expect(Set(files.map(\.module)).isSubset(of: known), "a new module needs its place in the order")
  }

  @Test func `import one way`() {
    func level(_ module: String) -> Int? { order.firstIndex { $0.contains(module) } }
    let wrong = files.flatMap { file in
      file.imports.filter { imported in
        guard let above = level(imported), let here = level(file.module) else { return false }
        return above >= here
      }.map { "\(file.path) imports \($0)" }
    }
    #expect(wrong == [])
  }

  @Test func `keep away from what is none of their business`() {
    for (module, away, because) in kept {
      let wrong = files.filter { $0.module == module }.flatMap { file in
        away.intersection(file.imports).map { "\(file.path) imports \($0)" }
      }
      #expect(wrong == [], "\(module): \(because)")
    }
  }

  @Test func `touch C in five places`() {
    let wrong = files.flatMap { file in
      file.imports.filter { module in
        guard module.hasPrefix("C"), module.dropFirst().first?.isUppercase == true else { return false }
        return touching[module]?.contains(file.module) != true
      }.map { "\(file.path) imports \($0)" }
    }
    #expect(wrong == [])
  }

  @Test func `touch the operating system where they must, and Foundation nowhere`() {
    let wrong = files.flatMap { file in
      file.imports.filter { module in
        module.hasPrefix("Foundation") || (platform.contains(module) && !platformModules.contains(file.module))
      }.map { "\(file.path) imports \($0)" }
    }
    #expect(wrong == [])
    #expect(SourceFile.everything.filter { $0.imports.contains("FoundationNetworking") }.map(\.path) == [])
  }
}
