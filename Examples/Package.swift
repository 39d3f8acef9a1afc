// swift-tools-version: 6.2
import PackageDescription

/// Uses the libraries as anybody outside would: nothing of them that is not public.
let package = Package(
  name: "switchyard-examples",
  dependencies: [.package(name: "switchyard", path: "..")],
  targets: [
    .executableTarget(
      name: "Examples",
      dependencies: ["Adapter", "AppStore", "JSON", "Mappings", "Purchases", "Receipts", "Signing", "Time", "Wire"].map
      {
        .product(name: $0, package: "switchyard")
      },
      swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)])
  ])
