/** The settings that a customer makes for itself. */
import Type, { type Static } from 'typebox'
import { Nullable, PositiveMoney, Timestamp, Uuid, Words } from '../contract/primitives.ts'

const DOMAINS_MAX = 50
/** Labels of letters, digits and hyphens, at least two labels, in lower case. */
export const DOMAIN = '^(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\\.)+[a-z]{2,63}$'

/** The person who set the document and the time; both null until the first change. */
const provenance = { updatedBy: Nullable(Uuid), updatedAt: Nullable(Timestamp) }

const alerts = {
  balanceLow: Type.Object(
    { enabled: Type.Boolean() },
    { additionalProperties: false, description: 'A balance fell below its own threshold.' },
  ),
  largePayment: Type.Object(
    { enabled: Type.Boolean(), threshold: Nullable(PositiveMoney) },
    { additionalProperties: false },
  ),
  incoming: Type.Object(
    { enabled: Type.Boolean(), threshold: Nullable(PositiveMoney) },
    { additionalProperties: false },
  ),
  login: Type.Object(
    { enabled: Type.Boolean() },
    { additionalProperties: false, description: 'A person signed in from a new device.' },
  ),
}
export const AlertSettingsWrite = Type.Object(alerts, { title: 'AlertSettingsWrite', additionalProperties: false })
export const AlertSettings = Type.Object({ ...alerts, ...provenance }, { title: 'AlertSettings' })

const domains = {
  domains: Type.Array(Type.String({ pattern: DOMAIN, examples: ['example.com'] }), {
    maxItems: DOMAINS_MAX,
    uniqueItems: true,
    description: 'Domains in lower case. With an empty list no invitations are possible.',
  }),
}
export const ApprovedDomainsWrite = Type.Object(domains, { title: 'ApprovedDomainsWrite', additionalProperties: false })
export const ApprovedDomains = Type.Object({ ...domains, ...provenance }, { title: 'ApprovedDomains' })

const preferences = {
  timezone: Type.String({
    maxLength: 64,
    description:
      'IANA name of the time zone that confirmations use. Exports name their own time zone; statements and ' +
      'limits use days in UTC.',
    examples: ['Europe/Amsterdam'],
  }),
  language: Words('DocumentLanguage', ['en'], 'The language of documents and mails; only English is available.'),
  requireVerification: Type.Boolean({
    description:
      'Whether an account name that cannot be checked stops a recipient or a payment. A stricter requirement ' +
      'of the operator always applies.',
  }),
  preNotificationDays: Type.Integer({
    minimum: 1,
    maximum: 14,
    description:
      'Days between the notice to a debtor and the collection of a direct debit; no effect without that feature.',
  }),
  closeEmptyBalances: Type.Boolean({ description: 'Whether a sub-balance that stays empty for a year is closed.' }),
}
export const CustomerPreferences = Type.Object({ ...preferences, ...provenance }, { title: 'CustomerPreferences' })
export const CustomerPreferencesUpdate = Type.Object(
  {
    timezone: Type.Optional(preferences.timezone),
    language: Type.Optional(preferences.language),
    requireVerification: Type.Optional(preferences.requireVerification),
    preNotificationDays: Type.Optional(preferences.preNotificationDays),
    closeEmptyBalances: Type.Optional(preferences.closeEmptyBalances),
  },
  { title: 'CustomerPreferencesUpdate', additionalProperties: false },
)

/** The documents by the name under which they are stored, with the defaults that apply until the first change. */
export const SETTING_DEFAULTS = {
  alerts: {
    balanceLow: { enabled: true },
    largePayment: { enabled: false, threshold: null },
    incoming: { enabled: false, threshold: null },
    login: { enabled: true },
  } as Static<typeof AlertSettingsWrite>,
  approved_domains: { domains: [] } as Static<typeof ApprovedDomainsWrite>,
  preferences: {
    timezone: 'UTC',
    language: 'en',
    requireVerification: false,
    preNotificationDays: 14,
    closeEmptyBalances: false,
  } as Required<Static<typeof CustomerPreferencesUpdate>>,
} as const
export type SettingName = keyof typeof SETTING_DEFAULTS

/** The documents as the API shows them. */
export interface SettingViews {
  readonly alerts: Static<typeof AlertSettings>
  readonly approved_domains: Static<typeof ApprovedDomains>
  readonly preferences: Static<typeof CustomerPreferences>
}
