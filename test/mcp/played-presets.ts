import type { RemoteKeysOptions } from '@portcullis/core'
import * as providers from '@portcullis/providers'

import { cases } from '../../packages/providers/test/cases.ts'
import { documentsOf } from '../../packages/providers/test/world.ts'

// The presets as a page imports them, whose keys come from providers that are played: the code of the page stands as it is.

const DOCUMENTS = cases.map(documentsOf)

const played: RemoteKeysOptions = {
  fetch: async (url) => {
    const document = DOCUMENTS.find((each) => each.has(url))?.get(url)
    return document === undefined ? new Response(null, { status: 404 }) : Response.json(document)
  },
}

type Options<Name extends keyof providers.ProviderOptions> = providers.ProviderOptions[Name]

export const auth0 = (options: Options<'auth0'>) => providers.auth0(options, played)
export const cognito = (options: Options<'cognito'>) => providers.cognito(options, played)
export const entra = (options: Options<'entra'>) => providers.entra(options, played)
export const keycloak = (options: Options<'keycloak'>) => providers.keycloak(options, played)
