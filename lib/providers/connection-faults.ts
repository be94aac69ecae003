/** Checks what staff write of a connection against the description of its provider. Pure. */
import type { FieldError } from '../base/problems.ts'
import { checkProviderUrl, type ProviderTargets } from './provider-targets.ts'
import { compileBody, type BodyValidator } from '../contract/validation.ts'
import { PROVIDER_DESCRIPTIONS } from './descriptions.ts'
import { PROVIDERS, type ProviderDescription, type ProviderEnvironment, type ProviderId } from './provider.ts'

/** The description of a provider; null for one that this version has no adapter for. */
export const descriptionOf = (provider: string): ProviderDescription | null =>
  (PROVIDERS as readonly string[]).includes(provider) ? PROVIDER_DESCRIPTIONS[provider as ProviderId] : null

const compiled = new Map<object, BodyValidator>()
function validatorOf(schema: ProviderDescription['config']): BodyValidator {
  const known = compiled.get(schema) ?? compileBody(schema, undefined)
  compiled.set(schema, known)
  return known
}

/** A checked object; `errors` name the members below `field`, and never their values. */
export interface Checked {
  readonly value: Readonly<Record<string, unknown>>
  readonly errors: readonly FieldError[]
}

/** `isText`: its free text is trimmed and has no line breaks; secrets stay as they were sent. */
function checked(schema: ProviderDescription['config'], value: object, field: string, isText: boolean): Checked {
  const found = validatorOf(schema).validate(structuredClone(value), isText)
  return {
    value: found.value as Readonly<Record<string, unknown>>,
    errors: found.errors.map((error) => ({ ...error, field: `${field}${error.field}` })),
  }
}

/** Checks the configuration of a connection. `targets`: the addresses that the provider may have. */
export function checkConfig(
  { config, ...description }: ProviderDescription,
  value: object,
  targets: ProviderTargets,
): Checked {
  const found = checked(config, value, '/config', true)
  if (found.errors.length > 0) return found
  const wrong = (field: string, message: string): Checked => ({
    ...found,
    errors: [{ field, code: 'invalid_value', message }],
  })
  const { baseUrl } = found.value
  const target = typeof baseUrl === 'string' ? checkProviderUrl(baseUrl, targets) : null
  if (target !== null && target.kind !== 'ok')
    return wrong('/config/baseUrl', target.kind === 'unsafe' ? target.detail : 'The address cannot be read.')
  const fault = description.configFault?.(found.value) ?? null
  return fault === null ? found : wrong('/config', fault)
}

/** Checks credentials. `field` is the place of the object in the body: empty where it is the body itself. */
export function checkCredentials(
  { provider, credentials }: ProviderDescription,
  value: object,
  field: string,
): Checked {
  if (credentials !== null) return checked(credentials, value, field, false)
  return {
    value: {},
    errors: [{ field: field === '' ? '/' : field, code: 'not_applicable', message: `${provider} has no credentials.` }],
  }
}

/** Finds what is wrong with the secret of a connection's webhooks. */
export function secretFaults({ provider, webhooks }: ProviderDescription, secret: string, field: string): FieldError[] {
  if (webhooks === null) return [{ field, code: 'not_applicable', message: `${provider} sends no webhooks.` }]
  const fault = webhooks.secretFault(secret)
  return fault === null ? [] : [{ field, code: 'invalid_format', message: fault }]
}

/** Finds what is wrong with the environment: simulated and real money are never at the same partner. */
export function environmentFaults(
  { provider, environments }: ProviderDescription,
  environment: ProviderEnvironment,
  sandbox: boolean,
): FieldError[] {
  const only: ProviderEnvironment = sandbox ? 'sandbox' : 'production'
  if (environment !== only)
    return [{ field: '/environment', code: 'not_applicable', message: `Connections here are for ${only} alone.` }]
  if (environments.includes(environment)) return []
  return [{ field: '/provider', code: 'not_applicable', message: `${provider} is not available in ${environment}.` }]
}

/** Finds the currencies that the provider does not have. */
export function currencyFaults(
  { provider, capabilities }: ProviderDescription,
  currencies: readonly string[],
): FieldError[] {
  return currencies.flatMap((currency, index): FieldError[] =>
    (capabilities.currencies as readonly string[]).includes(currency)
      ? []
      : [
          {
            field: `/fallbackCurrencies/${index}`,
            code: 'not_applicable',
            message: `${provider} has no accounts in ${currency}.`,
          },
        ],
  )
}
