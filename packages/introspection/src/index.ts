// Everything that `@portcullis/introspection` exports.

export { byForm, type ByFormOptions } from './by-form.ts'
export { introspected } from './introspected.ts'
export type { IntrospectionMessage } from './diagnostics.ts'
export type { IntrospectionFetch } from './exchange.ts'
export type { TokenForm } from './form.ts'
export type { ClientKey } from '@portcullis/kit/client-authentication'
export type { IntrospectedOptions } from './options.ts'
