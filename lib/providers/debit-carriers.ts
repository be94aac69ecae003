/** The schemes of direct debits that travel by orders, with their providers. Pure. */
import type { ProviderDescription } from './provider.ts'

/** Returns the schemes that travel by orders, each with its provider (`sandbox bacs_dd`). */
export function debitCarriers(
  descriptions: readonly Pick<ProviderDescription, 'provider' | 'debits'>[],
): readonly string[] {
  return descriptions.flatMap(({ provider, debits }) =>
    Object.entries(debits).flatMap(([scheme, { travelBy }]) =>
      travelBy === 'orders' ? [`${provider} ${scheme}`] : [],
    ),
  )
}
