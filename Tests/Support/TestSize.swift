import Glibc

/// How much the longer tests do.
package enum TestSize {
  /// Whether `scripts/soak` runs the tests.
  package static let isSoak = unsafe getenv("SWITCHYARD_SOAK") != nil

  /// Customers whose answers are compared with the simulator's; SWITCHYARD_SIMULATED_CUSTOMERS, else 200.
  package static let simulatedCustomers: Int =
    unsafe getenv("SWITCHYARD_SIMULATED_CUSTOMERS").flatMap { unsafe Int(String(cString: $0)) } ?? 200

  /// Random sets of claims that are tried against signed ones; SWITCHYARD_CLAIM_ROUNDS, else 500.
  package static let claimRounds: Int =
    unsafe getenv("SWITCHYARD_CLAIM_ROUNDS").flatMap { unsafe Int(String(cString: $0)) } ?? 500

  /// How often something is killed under a bulk migration; SWITCHYARD_MIGRATION_KILLS, else 4.
  package static let migrationKills: Int =
    unsafe getenv("SWITCHYARD_MIGRATION_KILLS").flatMap { unsafe Int(String(cString: $0)) } ?? 4

  /// Customers in the steps of a ramp: SWITCHYARD_SOAK_RAMP_CUSTOMERS, otherwise 200.
  package static let rampedCustomers: Int =
    unsafe getenv("SWITCHYARD_SOAK_RAMP_CUSTOMERS").flatMap { unsafe Int(String(cString: $0)) } ?? 200

  /// Customers in whose responses faults are searched for: SWITCHYARD_SOAK_FAULT_CUSTOMERS, set by `scripts/soak faults`.
  package static let judgedCustomers: Int? =
    unsafe getenv("SWITCHYARD_SOAK_FAULT_CUSTOMERS").flatMap { unsafe Int(String(cString: $0)) }

  /// Customers who are compared before an app with a seeded fault may advance; SWITCHYARD_SOAK_ADVANCE_CUSTOMERS, else 60.
  package static let advanceCustomers: Int =
    unsafe getenv("SWITCHYARD_SOAK_ADVANCE_CUSTOMERS").flatMap { unsafe Int(String(cString: $0)) } ?? 60

  /// How many seeded faults are tried on them, each alone; SWITCHYARD_SOAK_ADVANCE_FAULTS, else 4.
  package static let advanceFaults: Int =
    unsafe getenv("SWITCHYARD_SOAK_ADVANCE_FAULTS").flatMap { unsafe Int(String(cString: $0)) } ?? 4

  /// Whether tests that generate a page of docs write it: SWITCHYARD_WRITE_DOCS.
  package static let writesDocuments = unsafe getenv("SWITCHYARD_WRITE_DOCS") != nil
}
