/**
 * Features that an operator can switch off for itself and its customers. The routes of each name its flag. `sandbox` is
 * a flag beside these, which nobody switches: it follows the environment.
 */

/**
 * The features by name, with the value for an operator that has set none. `developer.self_serve` and
 * `payments.direct_debits` are promised names, which no operation has yet.
 */
export const FEATURE_DEFAULTS = {
  cards: false,
  'developer.self_serve': false,
  'exchange.forwards': false,
  'exchange.held_rates': false,
  'exchange.spot': true,
  'payments.bulk': true,
  'payments.direct_debits': false,
  'payments.funds_requests': true,
  'payments.recalls': true,
  'payments.scheduled': true,
  webhooks: true,
} as const satisfies Readonly<Record<string, boolean>>

export type Feature = keyof typeof FEATURE_DEFAULTS
export type FeatureSet = Readonly<Record<Feature, boolean>>

/** The flags as they are shown: those of the features, and whether the environment is a sandbox. */
export type ShownFlags = FeatureSet & { readonly sandbox: boolean }

/**
 * The flags that hold for a person of several operators: a feature is on when it is on for any of them. Each operator's
 * own customers get no more than it has switched on. Without an operator the defaults hold.
 */
export function flagsOfAny(sets: readonly FeatureSet[]): FeatureSet {
  if (sets.length === 0) return flagsOf({})
  return Object.fromEntries(
    Object.keys(FEATURE_DEFAULTS).map((name) => [name, sets.some((set) => set[name as Feature])]),
  ) as FeatureSet
}

/** Combines the defaults with an operator's settings. Features that this version does not know are left out. */
export function flagsOf(switched: Readonly<Record<string, boolean>>): FeatureSet {
  return Object.fromEntries(
    Object.entries(FEATURE_DEFAULTS).map(([name, on]) => [name, switched[name] ?? on]),
  ) as FeatureSet
}
