import {
  authenticateRequest,
  createVerifier,
  dpopProofs,
  mutualTls,
  refusal,
  remoteKeys,
} from '@portcullis/core'

// An API that answers with its verdict, for runtimes.ts: a token that is posted is judged by the verifier alone, any other
// request by a guard that takes bound tokens. The behaviour of each runtime is compared with what the issuer says of a token.

const keys = remoteKeys(`${process.env['AUTH_URL']}/tokenservice/pubkey.json`)
const verifier = createVerifier({
  keys,
  issuer: 'https://auth.test',
  audience: 'api',
  type: 'at+jwt',
  maxTokenAge: 3600,
})
const guard = {
  dpop: dpopProofs({ origin: 'https://api.test' }),
  // Nobody is on the list, so the header counts for nothing.
  mutualTls: mutualTls({ header: 'client-cert', format: 'rfc9440', proxies: ['192.0.2.0/24'] }),
}

async function judge(request: Request): Promise<Response> {
  try {
    const auth =
      request.method === 'POST'
        ? await verifier.verify(await request.text())
        : await authenticateRequest(verifier, request, guard)
    return Response.json(auth?.claims['sub'])
  } catch (error) {
    const { code, reason } = refusal(error) ?? { code: String(error) }
    return Response.json(`${code} ${reason}`)
  }
}
