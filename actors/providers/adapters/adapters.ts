/** The adapters of partners outside of this service. The sandbox bank's own one is made with the node. */
import type { ProviderId } from '../../../lib/providers/provider.ts'
import type { Adapter } from './adapter.ts'
import { clearbankAdapter } from './clearbank/clearbank-adapter.ts'
import { columnAdapter } from './column/column-adapter.ts'
import { createFilesAdapter } from './files/files-adapter.ts'
import { increaseAdapter } from './increase/increase-adapter.ts'

export const ADAPTERS: Readonly<Record<Exclude<ProviderId, 'sandbox'>, Adapter>> = {
  files: createFilesAdapter(),
  clearbank: clearbankAdapter,
  column: columnAdapter,
  increase: increaseAdapter,
}
