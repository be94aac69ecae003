/** What an operator can switch off for itself and its customers. Only what exists is here, and each is asked by its routes. */

/** The features by name, and whether they are on while the operator has said nothing. */
export const FEATURE_DEFAULTS = {
  'exchange.forwards': false,
  'exchange.held_rates': false,
  'exchange.spot': true,
  'payments.bulk': true,
  'payments.funds_requests': true,
  'payments.scheduled': true,
  webhooks: true,
} as const satisfies Readonly<Record<string, boolean>>

export type Feature = keyof typeof FEATURE_DEFAULTS
export type FeatureFlags = Readonly<Record<Feature, boolean>>

/** All features with what an operator has said of some. What this version does not know is left out. */
export function flagsOf(switched: Readonly<Record<string, boolean>>): FeatureFlags {
  return Object.fromEntries(Object.entries(FEATURE_DEFAULTS).map(([name, on]) => [name, switched[name] ?? on])) as FeatureFlags
}
