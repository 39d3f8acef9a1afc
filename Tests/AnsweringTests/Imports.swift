// What the tests of this module use; @testable imports are in the files that need them.
@_exported public import Answering
@_exported public import Database
@_exported public import JSON
@_exported public import Ledger
@_exported public import LegacyAnswers
@_exported public import Mappings
@_exported public import Purchases
@_exported public import Receipts
@_exported public import Runtime
@_exported public import Signing
@_exported public import Simulator
@_exported public import Support
@_exported public import Testing
@_exported public import Time
