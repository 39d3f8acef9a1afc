// What the tests of this module use; @testable imports are in the files that need them.
@_exported public import Rollout
@_exported public import Testing
