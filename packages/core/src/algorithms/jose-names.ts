// The names that the option `algorithmNames` may not give another meaning.

/** What means something already, in lower case: https://www.iana.org/assignments/jose (signatures, key management, content encryption) */
export const JOSE_NAMES: ReadonlySet<string> = new Set(
  [
    ['none', 'HS1', 'HS256', 'HS384', 'HS512', 'HS256/64'],
    ['RS1', 'RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
    ['ES256', 'ES384', 'ES512', 'ES256K', 'ESP256', 'ESP384', 'ESP512', 'ESB256', 'ESB320'],
    ['ESB384', 'ESB512', 'EdDSA', 'Ed25519', 'Ed448', 'ML-DSA-44', 'ML-DSA-65', 'ML-DSA-87'],
    ['RSA1_5', 'RSA-OAEP', 'RSA-OAEP-256', 'RSA-OAEP-384', 'RSA-OAEP-512', 'dir'],
    ['A128KW', 'A192KW', 'A256KW', 'A128GCMKW', 'A192GCMKW', 'A256GCMKW'],
    ['ECDH-ES', 'ECDH-ES+A128KW', 'ECDH-ES+A192KW', 'ECDH-ES+A256KW'],
    ['PBES2-HS256+A128KW', 'PBES2-HS384+A192KW', 'PBES2-HS512+A256KW'],
    ['A128GCM', 'A192GCM', 'A256GCM', 'A128CBC', 'A192CBC', 'A256CBC', 'A128CTR', 'A192CTR'],
    ['A256CTR', 'A128CBC-HS256', 'A192CBC-HS384', 'A256CBC-HS512'],
  ]
    .flat()
    .map((name) => name.toLowerCase()),
)
