try VerificationBenchmark().run()
