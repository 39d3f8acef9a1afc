/// The stages could not be read recently: an app may have been rolled back, so Switchyard does not respond.
package struct StagesUnavailable: Error, CustomStringConvertible {
  package var description: String { "the stages could not be read in time, so Switchyard did not answer" }
}
