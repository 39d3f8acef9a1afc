import Glibc

/// The cores that this process may use.
package enum Processors {
  package static var count: Int { max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))) }
}
