import Support
import Testing

/// The pages of the libraries: each has an example, which is a file that `scripts/test` compiles and runs.
@Suite struct `The page of a library` {
  @Test(arguments: [
    ("Sources/Adapter", "Adapter"), ("Sources/AppStore", "AppStore"), ("Mappings", "Mappings"),
    ("Sources/Purchases", "Purchases"),
    ("Sources/Receipts", "Receipts"), ("Sources/Signing", "Signing"), ("Sources/Wire", "Wire"),
  ])
  func `shows an example that runs`(folder: String, name: String) throws {
    let page = try ProjectFile.text("\(folder)/\(name).docc/\(name).md")
    let parts = page.split(separator: "```", omittingEmptySubsequences: false)
    let code = try #require(parts.count == 3 && parts[1].hasPrefix("swift\n") ? parts[1].dropFirst(6) : nil)
    let words = try #require(parts[0].split(separator: "`").first { $0.hasPrefix("Examples/") })
    #expect(try ProjectFile.text(String(words)) == String(code))
    #expect(code.contains("import \(name)\n"))
    #expect(try ProjectFile.text("Package.swift").contains(".library(name: \"\(name)\""))
    let function = try #require(code.split(separator: "func ").dropFirst().first?.prefix { $0 != "(" })
    #expect(try ProjectFile.text("Examples/Sources/Examples/main.swift").contains("\(function)("))
    #expect(try ProjectFile.text("scripts/test").contains("--package-path Examples"))
  }
}
