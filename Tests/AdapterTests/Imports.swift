// What the tests of this module use; @testable imports are in the files that need them.
@_exported public import Adapter
@_exported public import JSON
@_exported public import Mappings
@_exported public import Purchases
@_exported public import Receipts
@_exported public import Signing
@_exported public import Simulator
@_exported public import Support
@_exported public import Testing
@_exported public import Time
@_exported public import Wire
