/**
 * Features that an operator can switch off for itself and its customers. Only existing features are listed; the routes
 * of each check its flag.
 */

/** The features by name, with the value for an operator that has set none. */
export const FEATURE_DEFAULTS = {
  'exchange.forwards': false,
  'exchange.held_rates': false,
  'exchange.spot': true,
  'payments.bulk': true,
  'payments.funds_requests': true,
  'payments.recalls': true,
  'payments.scheduled': true,
  webhooks: true,
} as const satisfies Readonly<Record<string, boolean>>

export type Feature = keyof typeof FEATURE_DEFAULTS
export type FeatureSet = Readonly<Record<Feature, boolean>>

/** Combines the defaults with an operator's settings. Features that this version does not know are left out. */
export function flagsOf(switched: Readonly<Record<string, boolean>>): FeatureSet {
  return Object.fromEntries(
    Object.entries(FEATURE_DEFAULTS).map(([name, on]) => [name, switched[name] ?? on]),
  ) as FeatureSet
}
