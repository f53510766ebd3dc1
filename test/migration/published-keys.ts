import { createTestIssuer, type TestIssuer, tokenService } from '@portcullis/testing'

/** An issuer whose keys are where each of the peers looks for them: as a set, beside its metadata. */
export interface PublishedKeys extends AsyncDisposable {
  readonly issuer: TestIssuer
  readonly url: string
}

export async function publishKeys(omitFromKey: readonly 'kid'[] = []): Promise<PublishedKeys> {
  const issuer = await createTestIssuer({ algorithm: 'RS256', audience: 'places', omitFromKey })
  const inProcess = tokenService(issuer)
  const service = await inProcess.listen({
    async routes({ url }) {
      const { pathname } = new URL(url)
      if (pathname.endsWith('/.well-known/openid-configuration')) return metadata()
      if (!/\/(?:jwks\.json|certs)$/.test(pathname)) return undefined
      // The answer of the service itself, so that its outages affect the set as well.
      const answer = await inProcess.fetch(inProcess.keyUrl)
      return answer.ok ? Response.json({ keys: [await answer.json()] }) : answer
    },
  })
  function metadata(): Response {
    const { authUrl } = service
    return Response.json({ issuer: authUrl, jwks_uri: `${authUrl}/.well-known/jwks.json` })
  }
  return {
    issuer,
    url: service.authUrl,
    [Symbol.asyncDispose]: async () => await service.close(),
  }
}
