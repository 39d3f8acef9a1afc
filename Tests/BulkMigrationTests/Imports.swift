// What the tests of this module use; @testable imports are in the files that need them.
@_exported public import Adapter
@_exported public import Backfill
@_exported public import Database
@_exported public import Glibc
@_exported public import Intake
@_exported public import JSON
@_exported public import Ledger
@_exported public import Purchases
@_exported public import Receipts
@_exported public import Runtime
@_exported public import Signing
@_exported public import Support
@_exported public import Synchronization
@_exported public import Testing
@_exported public import Time
