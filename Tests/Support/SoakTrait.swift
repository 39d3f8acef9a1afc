import Glibc
package import Testing

extension Trait where Self == ConditionTrait {
  /// Runs a test only in `scripts/soak`, since the test takes long.
  package static var soak: Self { .enabled(if: TestSize.isSoak, "for scripts/soak") }
}
