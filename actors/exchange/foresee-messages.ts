/** Foresees the effect of a partner's messages on exchanges: the decisions of their actor, uncommitted. */
import { exchangeActor } from './exchange.ts'
import { exchangeContext, moveOf, type FxOrdersOptions } from './fx-orders.ts'
import { readerOf } from '../../storage/db/transaction.ts'
import type { FxMessage } from '../providers/fx.ts'
import type { Foreseen } from '../providers/inbox/inbox-ports.ts'

/**
 * Decides messages one after the other on the exchanges as they are stored.
 *
 * @returns the statuses by the ids of the messages; a message about no exchange is absent
 * @throws what the driver throws
 */
export async function foreseeMessages(
  options: Pick<FxOrdersOptions, 'database' | 'accounts' | 'ids' | 'clock' | 'sandbox'>,
  messages: readonly FxMessage[],
): Promise<ReadonlyMap<string, Foreseen>> {
  const { database, ids, clock } = options
  const reader = readerOf(database)
  const references = [...new Set(messages.map(({ reference }) => reference))]
  const states = new Map(await exchangeActor.load(reader, references, false))
  const now = clock.now()
  const foreseen = new Map<string, Foreseen>()
  for (const message of messages) {
    const before = states.get(message.reference)
    if (before === undefined) continue
    const context = await exchangeContext({ ...options, reader }, before.exchange)
    const { id, type } = message
    const command = { ...moveOf(message), message: { id, type }, context, seed: ids.next() }
    const after = exchangeActor.decide(before, command, now).state ?? before
    states.set(message.reference, after)
    foreseen.set(id, { before: before.exchange.status, after: after.exchange.status })
  }
  return foreseen
}
