/** The providers, each with its description. */
import { clearbankDescription } from './clearbank/description.ts'
import { columnDescription } from './column/description.ts'
import { filesDescription } from './files/description.ts'
import { increaseDescription } from './increase/description.ts'
import type { ProviderDescription, ProviderId } from './provider.ts'
import { sandboxDescription } from './sandbox/description.ts'

export const PROVIDER_DESCRIPTIONS: Readonly<Record<ProviderId, ProviderDescription>> = {
  sandbox: sandboxDescription,
  files: filesDescription,
  clearbank: clearbankDescription,
  column: columnDescription,
  increase: increaseDescription,
}
