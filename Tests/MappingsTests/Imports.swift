// What the tests of this module use; @testable imports are in the files that need them.
@_exported public import Mappings
@_exported public import Purchases
@_exported public import Support
@_exported public import Testing
@_exported public import Wire
