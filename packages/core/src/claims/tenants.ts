import { isJsonObject, type JsonObject, member } from '@portcullis/kit/json'
import { checkOptions, isText, isTextList, type OptionCheck, own } from '@portcullis/kit/options'

import { AuthError } from '../refusal/errors.ts'
import type { Auth } from './auth.ts'
import { otherIssuerOfTenant, refusedTenant } from './tenant-details.ts'

// The option `issuer` for a provider of many tenants: what a token, the id of its tenant and the key that signed it must say alike. All
// of it is compared as text: nothing that a token says becomes a pattern or a URL.

/**
 * The issuers of the tenants of one provider, which differ in the id of the tenant alone and share their keys. Each entry of the key
 * document must say by its member `issuer` for which of them it is: one without it proves nothing.
 */
export interface IssuerTemplate {
  /** The `iss` of tokens, with `{tenantid}` in the place of the tenant's id. */
  readonly template: string
  /**
   * The `issuer` of keys for all tenants. A key for one tenant has its id in place of `{tenantid}`.
   * @default the template
   */
  readonly keyTemplate?: string | undefined
  /** The claim with the id of the tenant: a UUID in lower case. */
  readonly claim: string
  /** The tenants whose tokens are accepted, by their ids. `'any'`: also one whose administrator is an attacker. */
  readonly tenants: 'any' | readonly string[]
  /** Tenants whose tokens are refused though `'any'` is stated. */
  readonly except?: readonly string[] | undefined
  /**
   * Claims that the administrator of each tenant decides, such as `roles`: an attacker who has a tenant would give one to himself. To
   * require one is a `TypeError` in `requiredClaims`, and never met by `claim(...)` of a route.
   */
  readonly decidedByTenants?: readonly string[] | undefined
}

/** What it makes for the steps of a verifier. */
export interface TenantRule {
  readonly template: Template
  readonly keyTemplate: Template
  readonly claim: string
  readonly tenants: ReadonlySet<string> | 'any'
  readonly except: ReadonlySet<string>
  readonly decidedByTenants: readonly string[]
}

/** Cut at start-up: the id of a tenant is put in by position. */
interface Template {
  readonly text: string
  readonly before: string
  readonly after: string
}

const PLACE = '{tenantid}'
/** RFC 9562 section 4, in one spelling: of two spellings of one tenant, each would be another user's account. */
const TENANT_ID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/

function isTenantId(value: unknown): value is string {
  return typeof value === 'string' && TENANT_ID.test(value)
}

export function isIssuerTemplate(issuer: unknown): issuer is IssuerTemplate {
  return isJsonObject(issuer) && Object.hasOwn(issuer, 'template')
}

export function isTenantRule(issuer: unknown): issuer is TenantRule {
  return isJsonObject(issuer)
}

const isTemplate: OptionCheck = (value) =>
  typeof value === 'string' && value.split(PLACE).length === 2
    ? undefined
    : `must be a string with ${PLACE} once`

const isTenantList: OptionCheck = (value) =>
  Array.isArray(value) && value.length > 0 && Array.from<unknown>(value).every(isTenantId)
    ? undefined
    : 'must be a list of UUIDs in lower case'

/** @param required The names of required claims. @throws TypeError for a wrong, misspelt or missing member. */
export function checkIssuerTemplate(issuer: IssuerTemplate, required: readonly string[]): void {
  checkOptions(
    'createVerifier: issuer',
    issuer,
    {
      template: isTemplate,
      keyTemplate: isTemplate,
      claim: isText,
      tenants: (value) =>
        value === 'any' || isTenantList(value) === undefined
          ? undefined
          : "must be 'any', or a list of UUIDs in lower case",
      except: (value) =>
        own(issuer, 'tenants') === 'any' ? isTenantList(value) : "is for tenants: 'any' alone",
      decidedByTenants: isTextList,
    },
    ['template', 'claim', 'tenants'],
  )
  const name = required.find((each) => own(issuer, 'decidedByTenants')?.includes(each))
  if (name === undefined) return
  // Mistake `createVerifier: requiredClaims must not have …`: The administrator of each tenant decides what this claim says, and tokens
  // of any tenant are accepted. List the tenants, or let your own data say what a user may do.
  throw new TypeError(
    `createVerifier: requiredClaims must not have ${JSON.stringify(name)}: the administrator of a token's tenant decides what it says`,
  )
}

/** @param issuer Checked. */
export function tenantRuleOf(issuer: IssuerTemplate): TenantRule {
  const template = cut(issuer.template)
  const keyTemplate = own(issuer, 'keyTemplate')
  return {
    template,
    keyTemplate: keyTemplate === undefined ? template : cut(keyTemplate),
    claim: issuer.claim,
    tenants: issuer.tenants === 'any' ? 'any' : new Set(issuer.tenants),
    except: new Set(own(issuer, 'except')),
    decidedByTenants: [...(own(issuer, 'decidedByTenants') ?? [])],
  }
}

function cut(text: string): Template {
  const [before = '', after = ''] = text.split(PLACE)
  return { text, before, after }
}

function filled({ before, after }: Template, tenant: string): string {
  return `${before}${tenant}${after}`
}

/** The tenant that `iss` and the claim with its id name alike; `undefined` if they do not. */
function tenantOf(claims: JsonObject, { template, claim }: TenantRule): string | undefined {
  const tenant = member(claims, claim)
  return isTenantId(tenant) && member(claims, 'iss') === filled(template, tenant)
    ? tenant
    : undefined
}

function isAccepted(tenant: string, { tenants, except }: TenantRule): boolean {
  return tenants === 'any' ? !except.has(tenant) : tenants.has(tenant)
}

/** @throws AuthError `issuer` */
export function checkTenant(claims: JsonObject, rule: TenantRule): void {
  const { template, claim } = rule
  const tenant = tenantOf(claims, rule)
  if (tenant === undefined) {
    throw new AuthError(
      'invalid_token',
      'issuer',
      otherIssuerOfTenant(claims, claim, template.text),
    )
  }
  if (!isAccepted(tenant, rule)) {
    const detail = refusedTenant(claim, tenant, rule.tenants === 'any' ? [] : [...rule.tenants])
    throw new AuthError('invalid_token', 'issuer', detail)
  }
}

/**
 * Whether a key that has made the signature is for the tenant of the token. Of claims that name no tenant this says nothing:
 * {@link checkTenant} refuses them, whatever the key.
 *
 * @param keyIssuer Of its entry in the key document.
 */
export function isKeyForTenant(
  keyIssuer: string | undefined,
  claims: JsonObject | undefined,
  rule: TenantRule,
): boolean {
  const tenant = claims && tenantOf(claims, rule)
  if (tenant === undefined) return true
  const { keyTemplate } = rule
  return keyIssuer === keyTemplate.text || keyIssuer === filled(keyTemplate, tenant)
}

/** Whether tokens with this `iss` may be accepted. */
export function isIssuerOfTenant(iss: string, rule: TenantRule): boolean {
  const { before, after } = rule.template
  const tenant = iss.slice(before.length, iss.length - after.length)
  return isTenantId(tenant) && iss === filled(rule.template, tenant) && isAccepted(tenant, rule)
}

/** From the registry of symbols, so that requirements of another copy of core see it as well. */
const DECIDED: unique symbol = Symbol.for('@portcullis/core decided by tenants')

/** Notes with an `Auth` which of its claims a tenant decides. Enumerable, so that a copy of the `Auth` has it. */
export function withTenantDecisions<Noted extends object>(
  auth: Noted,
  issuer: TenantRule | readonly string[] | null,
): Noted {
  if (!isTenantRule(issuer) || issuer.decidedByTenants.length === 0) return auth
  return { ...auth, [DECIDED]: Object.freeze([...issuer.decidedByTenants]) }
}

/** Whether nobody but a tenant, which may be anybody's, decides what the claim says. */
export function isDecidedByTenant(auth: Auth<unknown>, claim: string | undefined): boolean {
  const names: unknown = Object.hasOwn(auth, DECIDED) ? Reflect.get(auth, DECIDED) : []
  return Array.isArray(names) && names.includes(claim)
}
