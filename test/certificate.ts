import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Certificate extends Disposable {
  readonly cert: string
  readonly key: string
  readonly certFile: string
  readonly keyFile: string
}

/** One for 127.0.0.1 that signs itself, good for a day. */
export function createCertificate(): Certificate {
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-certificate-'))
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  const request = '-x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1'
  const name = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1']
  const files = ['-keyout', keyFile, '-out', certFile]
  execFileSync('openssl', ['req', ...request.split(' '), ...name, ...files], { stdio: 'ignore' })
  return {
    cert: readFileSync(certFile, 'utf8'),
    key: readFileSync(keyFile, 'utf8'),
    certFile,
    keyFile,
    [Symbol.dispose]() {
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
