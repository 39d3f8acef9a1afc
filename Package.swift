// swift-tools-version: 6.2
import PackageDescription

/// The build of scripts/check: from nothing it is quicker when each module is compiled at once.
let isChecked = Context.environment["SWITCHYARD_OPTIMIZED"] == "1"

/// The strict settings of every target of ours; the C modules have none.
let strict: [SwiftSetting] =
  [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
  ] + (isChecked ? [.unsafeFlags(["-wmo", "-num-threads", "2", "-no-emit-module-separately-wmo"])] : [])

/// Modules that compute for long in tests: that build optimizes them.
let computing: Set = [
  "Time", "JSON", "Purchases", "Signing", "Receipts", "Wire", "Mappings", "Adapter", "LegacyAnswers", "Comparison",
  "Compression", "Backfill", "Simulator", "Database", "Runtime",
]

func module(_ name: String, _ uses: Target.Dependency..., path: String? = nil, resources: [Resource]? = nil)
  -> Target
{
  .target(
    name: name, dependencies: uses, path: path, resources: resources,
    swiftSettings: strict + (isChecked && computing.contains(name) ? [.unsafeFlags(["-O"])] : []))
}

func tests(_ name: String, _ uses: Target.Dependency...) -> Target {
  .testTarget(
    name: name, dependencies: uses + ["Support"], path: "Tests/\(name)", swiftSettings: strict)
}

func cLibrary(_ name: String, pkgConfig: String, apt: String) -> Target {
  .systemLibrary(
    name: name, path: "Sources/CLibraries/\(name)", pkgConfig: pkgConfig, providers: [.apt([apt])])
}

let package = Package(
  name: "switchyard",
  products: [
    .executable(name: "switchyard", targets: ["switchyard"]),
    .library(name: "JSON", targets: ["JSON"]),
    .library(name: "Time", targets: ["Time"]),
    .library(name: "Mappings", targets: ["Mappings"]),
    .library(name: "Purchases", targets: ["Purchases"]),
    .library(name: "Wire", targets: ["Wire"]),
    .library(name: "Signing", targets: ["Signing"]),
    .library(name: "Receipts", targets: ["Receipts"]),
    .library(name: "Adapter", targets: ["Adapter"]),
    .library(name: "AppStore", targets: ["AppStore"]),
    // For tests alone: put before the C library, it gives a process the time of a simulated world.
    .library(name: "WorldTime", type: .dynamic, targets: ["WorldTime"]),
  ],
  targets: [
    cLibrary("COpenSSL", pkgConfig: "openssl", apt: "libssl-dev"),
    cLibrary("CCurl", pkgConfig: "libcurl", apt: "libcurl4-openssl-dev"),
    cLibrary("CMariaDB", pkgConfig: "libmariadb", apt: "libmariadb-dev"),
    cLibrary("CZlib", pkgConfig: "zlib", apt: "zlib1g-dev"),
    cLibrary("CZstd", pkgConfig: "libzstd", apt: "libzstd-dev"),
    .systemLibrary(name: "CLinux", path: "Sources/CLibraries/CLinux"),

    module("Time"),
    module("JSON", "Time"),
    module("Runtime", "CLinux", "Time"),
    module("Purchases", "Time", "JSON"),
    module("Signing", "COpenSSL", "Time", "JSON"),
    module("HTTPClient", "CCurl", "Runtime", "Time"),
    module("HTTPServer", "COpenSSL", "CLinux", "Runtime", "Time"),
    module("Database", "CMariaDB", "Runtime", "JSON", "Time"),
    module("Wire", "JSON", "Time"),
    module("Receipts", "Signing", "Purchases", "JSON", "Time"),
    module(
      "Mappings", "Purchases", "JSON", "Time", path: "Mappings",
      resources: [
        .embedInCode("events.tsv"), .embedInCode("transaction-fields.tsv"),
        .embedInCode("renewal-fields.tsv"), .embedInCode("app-transaction-fields.tsv"),
        .embedInCode("receipt-fields.tsv"), .embedInCode("v1-transaction-fields.tsv"),
        .embedInCode("v1-renewal-fields.tsv"), .embedInCode("v1-statuses.tsv"), .embedInCode("v1-events.tsv"),
        .embedInCode("v2-events-to-v1.tsv"), .embedInCode("inferences.tsv"), .embedInCode("without-counterpart.tsv"),
        .embedInCode("endpoints.tsv"), .embedInCode("api-errors.tsv"),
        .embedInCode("answer-fields.tsv"), .embedInCode("answer-rules.tsv"), .embedInCode("answer-checks.tsv"),
        .embedInCode("difference-causes.tsv"),
      ]),
    module("Adapter", "Receipts", "Wire", "Mappings", "Signing", "Purchases", "JSON", "Time"),
    module("LegacyAnswers", "Receipts", "Wire", "Mappings", "Purchases", "JSON", "Time"),
    module("AppStore", "HTTPClient", "Wire", "Mappings", "Signing", "Runtime", "JSON", "Time"),
    module("Rollout"),
    module("Ledger", "Compression", "Rollout", "Database", "Purchases", "Signing", "Runtime", "JSON", "Time"),
    module("Intake", "Adapter", "Receipts", "Ledger", "Signing", "Purchases", "Runtime", "JSON", "Time"),
    module(
      "BulkMigration", "Intake", "Backfill", "Adapter", "Receipts", "Ledger", "Database", "Signing", "Purchases",
      "Runtime", "JSON", "Time"),
    module(
      "Answering", "LegacyAnswers", "Ledger", "Database", "Rollout", "Receipts", "Wire", "Mappings", "Signing",
      "Purchases", "Runtime", "JSON", "Time"),
    module("Comparison", "LegacyAnswers", "Receipts", "Wire", "Mappings", "Purchases", "JSON", "Time"),
    module("Delivery", "Ledger", "Database", "HTTPClient", "Signing", "Purchases", "Runtime", "Time"),
    module("Seeding", "AppStore", "Rollout", "Ledger", "Database", "Signing", "Purchases", "Runtime", "Wire", "Time"),
    module(
      "Reconciliation", "Intake", "Seeding", "AppStore", "Rollout", "Ledger", "Database", "Adapter", "Mappings", "Wire",
      "Signing", "Purchases", "Runtime", "JSON", "Time"),
    module(
      "ConsumptionAnswers", "Seeding", "AppStore", "HTTPClient", "Ledger", "Database", "Wire", "Signing",
      "Purchases", "Runtime", "JSON", "Time"),
    module("RevocationChecks", "Ledger", "Database", "HTTPClient", "Signing", "Runtime", "Time"),
    module(
      "Shadow", "Answering", "Comparison", "LegacyAnswers", "Rollout", "Ledger", "Database", "Receipts", "Mappings",
      "Wire", "Signing", "Purchases", "Runtime", "JSON", "Time"),
    module(
      "Service", "Shadow", "Reconciliation", "ConsumptionAnswers", "RevocationChecks", "BulkMigration",
      "Answering", "Intake", "Seeding", "Delivery", "AppStore", "HTTPClient", "Rollout", "Ledger", "Database",
      "Adapter", "HTTPServer", "Mappings", "Wire", "Signing", "Purchases", "Runtime", "JSON", "Time"),
    module(
      "Operations", "Shadow", "Answering", "ConsumptionAnswers", "Intake",
      "Rollout", "Ledger", "Database", "Adapter", "LegacyAnswers", "Mappings", "Signing", "Purchases", "Runtime",
      "JSON", "Time"),
    module("Compression", "CZlib", "CZstd"),
    module("Backfill", "Receipts", "Compression", "Signing", "Purchases", "Runtime", "JSON", "Time"),
    module("Simulator", "HTTPServer", "HTTPClient", "Signing", "JSON", "Time"),
    .executableTarget(
      name: "switchyard",
      dependencies: [
        "Operations", "Shadow", "Comparison", "Service", "Reconciliation", "ConsumptionAnswers", "RevocationChecks",
        "BulkMigration", "Answering", "Intake", "Seeding",
        "AppStore", "Backfill", "Simulator", "Rollout", "Ledger",
        "Database", "Adapter", "LegacyAnswers", "Receipts", "Wire", "Mappings", "HTTPServer", "HTTPClient", "Signing",
        "Purchases", "Runtime", "JSON", "Time",
      ], swiftSettings: strict),
    .executableTarget(
      name: "Benchmarks",
      dependencies: [
        "Service", "Intake", "Seeding", "AppStore", "Simulator", "Ledger", "Database", "Adapter", "LegacyAnswers",
        "Receipts", "Wire", "HTTPServer", "HTTPClient", "Signing", "Purchases", "Runtime", "JSON", "Time", "COpenSSL",
      ], path: "Benchmarks", swiftSettings: strict),

    // Sees of the libraries what anybody outside would: nothing that is not public.
    .executableTarget(
      name: "Examples",
      dependencies: ["Adapter", "AppStore", "JSON", "Mappings", "Purchases", "Receipts", "Signing", "Time", "Wire"],
      path: "Examples", packageAccess: false,
      swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]),

    .target(name: "WorldTime", path: "Tests/WorldTime"),
    .target(
      name: "Support",
      dependencies: [
        "Simulator", "Compression", "Ledger", "Database", "Mappings", "Purchases", "Signing", "Runtime", "JSON", "Time",
      ],
      path: "Tests/Support", swiftSettings: strict),
    .target(
      name: "Truth",
      dependencies: [
        "Support", "Simulator", "Ledger", "Database", "LegacyAnswers", "Receipts", "Mappings", "Purchases", "Signing",
        "JSON", "Time",
      ],
      path: "Tests/Truth", swiftSettings: strict),
    .target(name: "Tables", path: "Tests/Tables", swiftSettings: strict),
    .target(
      name: "FuzzTargets",
      dependencies: [
        "Tables", "Ledger", "HTTPServer", "Backfill", "Compression", "Adapter", "Receipts", "Simulator", "Purchases",
        "Signing", "JSON", "Time",
      ], path: "Tests/Fuzz/Targets", swiftSettings: strict),
    tests("FuzzTests", "FuzzTargets"),
    tests("TimeTests", "Time"),
    tests("JSONTests", "JSON", "Time"),
    tests("RuntimeTests", "Runtime", "JSON", "Time"),
    tests("PurchasesTests", "Purchases", "JSON", "Time"),
    tests("WireTests", "Wire", "JSON", "Time"),
    tests("SigningTests", "Signing", "Simulator", "JSON", "Time"),
    tests("ReceiptsTests", "Receipts", "Adapter", "Mappings", "Purchases", "Simulator", "Signing", "JSON", "Time"),
    tests("CompressionTests", "Compression"),
    tests(
      "BackfillTests", "Tables", "Backfill", "Compression", "Receipts", "Simulator", "Signing", "Runtime", "JSON",
      "Time"),
    tests("HTTPTests", "HTTPServer", "HTTPClient", "Runtime", "Time"),
    tests("DatabaseTests", "Database", "Runtime", "JSON", "Time"),
    tests("MappingsTests", "Mappings", "Purchases", "Wire"),
    tests(
      "AdapterTests", "Adapter", "Mappings", "Receipts", "Simulator", "Signing", "Wire", "Purchases", "JSON", "Time"),
    tests(
      "LegacyAnswersTests", "Truth", "Operations", "Shadow", "Comparison", "LegacyAnswers", "Ledger", "Database",
      "Rollout", "Mappings", "Receipts", "Simulator", "Signing", "Purchases", "Runtime", "JSON", "Time"),
    tests(
      "AppStoreTests", "AppStore", "HTTPServer", "HTTPClient", "Mappings", "Wire", "Simulator", "Signing", "JSON",
      "Time"),
    tests(
      "AnsweringTests", "Answering", "LegacyAnswers", "Ledger", "Receipts", "Simulator", "Mappings", "Database",
      "Signing", "Purchases", "Runtime", "JSON", "Time"),
    tests("RolloutTests", "Rollout"),
    tests("ComparisonTests", "Comparison", "LegacyAnswers", "Purchases", "JSON", "Time"),
    tests(
      "DeliveryTests", "Delivery", "Ledger", "Database", "HTTPClient", "Purchases", "Signing", "Runtime",
      "Time"),
    tests(
      "LedgerTests", "Truth", "Ledger", "Mappings", "Rollout", "Database", "Adapter", "Receipts", "Simulator",
      "Purchases", "Signing", "Runtime", "JSON", "Time"),
    tests(
      "BulkMigrationTests", "BulkMigration", "Intake", "Backfill", "Adapter", "Receipts", "Ledger", "Database",
      "Signing", "Runtime", "JSON", "Time"),
    tests(
      "IntakeTests", "Intake", "Ledger", "Rollout", "Adapter", "Signing", "Purchases", "Runtime", "JSON", "Time"),
    tests(
      "SeedingTests", "Seeding", "Service", "Reconciliation", "Intake", "AppStore", "Ledger", "Adapter",
      "Database",
      "HTTPClient", "HTTPServer", "Simulator", "Signing", "Purchases", "Runtime", "JSON", "Time"),
    tests(
      "ReconciliationTests", "Truth", "Reconciliation", "Answering", "Rollout", "Service", "Intake", "Seeding",
      "AppStore",
      "Ledger", "Database", "Adapter", "Receipts", "HTTPServer", "HTTPClient", "Simulator", "Signing", "Purchases",
      "Runtime", "JSON", "Time"),
    tests(
      "ConsumptionAnswersTests", "ConsumptionAnswers", "Seeding", "AppStore", "Ledger", "Database",
      "HTTPClient", "Simulator", "Wire", "Signing", "Purchases", "Runtime", "JSON", "Time"),
    tests(
      "RevocationChecksTests", "RevocationChecks", "Ledger", "Database", "HTTPClient", "Simulator", "Signing",
      "Runtime", "JSON", "Time"),
    tests(
      "ServiceTests", "Truth", "Receipts", "Service", "Shadow", "LegacyAnswers", "Mappings", "Answering",
      "Seeding", "Reconciliation", "Intake", "AppStore",
      "Delivery", "Rollout", "Ledger", "Database",
      "Adapter", "HTTPServer", "HTTPClient", "Simulator", "Signing", "Purchases", "Runtime", "JSON", "Time"),
    tests(
      "OperationsTests", "Operations", "Shadow", "ConsumptionAnswers", "Service", "Intake", "Simulator", "AppStore",
      "Rollout", "Ledger", "Database", "Receipts",
      "Adapter", "HTTPClient", "Signing", "Purchases", "Runtime", "JSON", "Time"),
    tests(
      "SimulatorTests", "Simulator", "Adapter", "Receipts", "Mappings", "Purchases", "Signing", "Wire", "JSON",
      "Time"),
    tests(
      "AppStoreServerTests", "Simulator", "HTTPServer", "HTTPClient", "Signing", "JSON", "Time"),
    tests(
      "EndToEnd", "switchyard", "Receipts", "Truth", "Service", "Intake", "Seeding", "Adapter", "Ledger", "Database",
      "HTTPServer", "HTTPClient", "Simulator", "Signing", "Purchases", "JSON", "Runtime", "Time"),
  ]
)

// Only where scripts/fuzz asks for it: it links libFuzzer.
if Context.environment["SWITCHYARD_FUZZ"] == "1" {
  package.targets += [
    .systemLibrary(name: "CLibFuzzer", path: "Tests/Fuzz/CLibFuzzer"),
    .executableTarget(
      name: "Fuzz", dependencies: ["CLibFuzzer", "FuzzTargets"], path: "Tests/Fuzz/Run",
      swiftSettings: strict + [.unsafeFlags(["-parse-as-library"])]),
  ]
}
