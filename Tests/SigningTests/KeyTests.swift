@Suite struct `A signing key` {
  @Test func `comes back from its .p8 file`() throws {
    let key = try SigningKey.generate()
    let again = try SigningKey(pem: key.privateKey.pem())
    let message = Array("header.payload".utf8)
    let signature = try again.signature(of: message)
    #expect(try key.privateKey.publicKey().verifies(signature, of: .sha256(message)))
    #expect(try !key.privateKey.publicKey().verifies(signature, of: .sha256([1])))
  }

  @Test(arguments: [PrivateKey.Kind.p384, .rsa2048])
  func `is on P-256 or refused`(kind: PrivateKey.Kind) throws {
    let pem = try PrivateKey.generate(kind).pem()
    #expect(throws: CertificateError(.unusableKey, "")) { try SigningKey(pem: pem) }
  }

  @Test(arguments: [
    "", "no key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
    "-----BEGIN PRIVATE KEY-----\nAAAA", "-----BEGIN PRIVATE KEY-----\n!!!!\n-----END PRIVATE KEY-----",
    "-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----\n",
  ])
  func `that is none is refused`(file: String) {
    #expect(throws: CertificateError(.malformed, "")) { try SigningKey(pem: Array(file.utf8)) }
  }

  @Test func `signs with small numbers too`() throws {
    // One in 128 signatures has an r or s of less than 32 bytes, whose zeros JOSE keeps and DER drops.
    let key = try SigningKey.generate()
    let publicKey = try key.privateKey.publicKey()
    for round in 0..<400 {
      let message = Array("\(round)".utf8)
      let signature = try key.signature(of: message)
      #expect(signature.bytes.count == 64)
      #expect(publicKey.verifies(signature, of: .sha256(message)))
    }
  }

  @Test func `always says ES256`() throws {
    let jws = try JWS.sign(header: ["alg": "none", "kid": "ABC"], payload: ["iss": "x"], with: .generate())
    let header = try #require(Base64.url.decode(Array(jws.prefix { $0 != UInt8(ascii: ".") })))
    #expect(try JSONReader.read(header).object == ["alg": "ES256", "kid": "ABC"])
  }
}

@Suite struct `The simulator's PKI` {
  @Test func `comes back from its directory, keys for the owner alone`() throws {
    let name = [UInt8].random(count: 8).map { String($0, radix: 16) }.joined()
    let path = "/tmp/switchyard-pki-\(name)"
    defer {
      for name in ["root", "intermediate", "leaf"] {
        for kind in ["der", "key"] { _ = unsafe unlink("\(path)/\(name).\(kind)") }
      }
      _ = unsafe rmdir(path)
    }
    let directory = PKIDirectory(path: path)
    #expect(!directory.exists)
    try directory.save(Bench.pki)
    #expect(directory.exists)
    for name in ["root", "intermediate", "leaf"] {
      var status = stat()
      #expect(unsafe stat("\(path)/\(name).key", &status) == 0)
      #expect(status.st_mode & 0o777 == 0o600)
    }
    let again = try directory.load()
    let jws = try again.sign(Bench.transaction)
    let verified = try Bench.verifier().verifyTransaction(jws, expecting: ExpectedClaims(), now: Bench.now)
    #expect(verified.payload == Bench.transaction)
  }

  @Test func `says why its directory cannot be read`() {
    #expect(throws: PKIDirectory.Failure.self) { try PKIDirectory(path: "/nowhere/at/all").load() }
    #expect(throws: PKIDirectory.Failure.self) { try PKIDirectory(path: "/nowhere/at/all").save(Bench.pki) }
  }

  @Test func `makes certificates like Apple's`() throws {
    let (root, intermediate, leaf) = (Bench.pki.root, Bench.pki.intermediate, Bench.pki.leaf)
    #expect(root.certificate.isAuthority && root.certificate.isSelfSigned)
    #expect(intermediate.certificate.isAuthority && !intermediate.certificate.isSelfSigned)
    #expect(!leaf.certificate.isAuthority)
    #expect(leaf.certificate.carries(.leaf) && !leaf.certificate.carries(.intermediate))
    #expect(intermediate.certificate.carries(.intermediate))
    #expect(try leaf.certificate.publicKey().isP256)
    #expect(try !intermediate.certificate.publicKey().isP256)
    // The identifier, then an octet string that holds a NULL.
    let identifier: [UInt8] = [0x06, 0x0A, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x63, 0x64, 0x06, 0x0B, 0x01]
    let marker = identifier + [0x04, 0x02, 0x05, 0x00]
    #expect(leaf.certificate.der.contains(marker))
  }

  @Test func `refuses to make certificates that say nothing sensible`() throws {
    func attempt(_ change: (inout CertificateTemplate) -> Void) throws {
      var template = ApplePKI.Blueprint(at: Bench.now).leaf.template
      change(&template)
      _ = try Bench.pki.intermediate.issue(template, to: .generate(.p256))
    }
    #expect(throws: CertificateError(.cannotIssue, "")) {
      try attempt { $0.commonName = String(repeating: "a", count: 65) }
    }
    #expect(throws: CertificateError(.invalidDates, "")) { try attempt { $0.notAfter = $0.notBefore - .seconds(1) } }
    #expect(throws: CertificateError(.invalidExtensions, "")) {
      try attempt {
        $0.isAuthority = nil
        $0.extensions.append(.init(identifier: "2.5.29.19", value: [0xFF]))
      }
    }
  }

  @Test(arguments: 0..<3) func `refuses to read certificates cut short`(which: Int) throws {
    let der = Bench.pki.certificates[which]
    for count in stride(from: 0, to: der.count, by: 7) {
      #expect(throws: CertificateError.self) { try Certificate(der: Array(der.prefix(count))) }
    }
  }
}
