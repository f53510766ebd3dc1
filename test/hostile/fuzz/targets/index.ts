import type { FuzzTarget } from '../target.ts'
import { bearer } from './bearer.ts'
import { challenge } from './challenge.ts'
import { claims } from './claims.ts'
import { dpopProof } from './dpop-proof.ts'
import { explanation } from './explanation.ts'
import { forwardedCertificate } from './forwarded-certificate.ts'
import { grantResponse } from './grant-response.ts'
import { introspectionAnswer } from './introspection-answer.ts'
import { keyDocument } from './key-document.ts'
import { loginResponse } from './login-response.ts'
import { metadata } from './metadata.ts'
import { opaqueToken } from './opaque-token.ts'
import { path } from './path.ts'
import { pollAnswer } from './poll-answer.ts'
import { securityEvent } from './security-event.ts'
import { targetUrl } from './target-url.ts'
import { tenant } from './tenant.ts'
import { header, token } from './token.ts'

/** By the name of the folder of their seeds. */
export const targets: Readonly<Record<string, FuzzTarget>> = {
  bearer,
  challenge,
  claims,
  'dpop-proof': dpopProof,
  explanation,
  'forwarded-certificate': forwardedCertificate,
  'grant-response': grantResponse,
  header,
  'introspection-answer': introspectionAnswer,
  'key-document': keyDocument,
  'login-response': loginResponse,
  metadata,
  'opaque-token': opaqueToken,
  path,
  'poll-answer': pollAnswer,
  'security-event': securityEvent,
  'target-url': targetUrl,
  tenant,
  token,
}
