/** The names of the schemes of direct debits. Their terms are in lib/direct-debits/schemes.ts. */
export const MANDATE_SCHEMES = ['sepa_dd_core', 'sepa_dd_b2b', 'bacs_dd', 'ach_debit', 'becs_dd', 'pad'] as const
export type MandateScheme = (typeof MANDATE_SCHEMES)[number]

/**
 * `client`: this service generates the files of collections, and staff report statuses. `provider`: the bank of the
 * connection manages the mandates and is called.
 */
export const MANDATE_MANAGEMENTS = ['client', 'provider'] as const
export type MandateManagement = (typeof MANDATE_MANAGEMENTS)[number]
