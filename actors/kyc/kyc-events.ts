/** Uses the events of KYC providers that were kept: a task for each, which is begun again until it has succeeded. */
import { KYC_ADAPTERS } from '../../lib/kyc/adapters.ts'
import { shardOf } from '../../lib/shards/shard.ts'
import { findKycConnection } from '../../storage/kyc/kyc-connections.ts'
import { endKycEvent, lockKycEvent, removeOldKycEvents } from '../../storage/kyc/kyc-events.ts'
import { writeEvent } from '../../storage/outbox/outbox.ts'
import { runChange } from '../commands/changes.ts'
import type { Task } from '../runtime/tasks.ts'
import type { KycDeps } from './kyc-deps.ts'
import { takeMessage, type TakenMessage } from './take-message.ts'

/** Attempts to use an event, over about half an hour; then its operator is told that it failed. */
const ATTEMPTS_MAX = 8

export interface KycEventsDeps extends Pick<KycDeps, 'database' | 'ids' | 'clock' | 'log'> {
  /** Tells every node of a customer's new status. */
  readonly announce: (customerId: string, version: bigint) => Promise<void>
}

/** The tasks: to use an event, and to remove those that were kept for long enough. */
export function kycEventTasks(deps: KycEventsDeps): readonly Task[] {
  return [
    {
      name: 'kyc.event',
      async run(id, { attempt }) {
        try {
          await announceMove(deps, await useEvent(deps, id))
        } catch (error) {
          if (attempt < ATTEMPTS_MAX) throw error
          deps.log.error({ err: error, kycEvent: id }, 'an event of a KYC provider could not be used')
          await giveUp(deps, id)
        }
      },
    },
    {
      name: 'kyc.remove_events',
      cron: '41 3 * * *',
      async run() {
        while ((await removeOldKycEvents(deps.database, deps.clock.now())) > 0);
      },
    },
  ]
}

/** Tells every node of the status into which a message has moved its customer. */
export async function announceMove(
  { announce }: Pick<KycEventsDeps, 'announce'>,
  moved: TakenMessage['moved'],
): Promise<void> {
  if (moved !== null) await announce(moved.customerId, moved.version)
}

async function useEvent(deps: KycEventsDeps, id: string): Promise<TakenMessage['moved']> {
  return await runChange(deps, async (tx) => {
    const { client } = tx
    const event = await lockKycEvent(client, id)
    if (event === null) return null
    const connection = await findKycConnection(client, event.connectionId)
    const webhooks = connection === null ? null : KYC_ADAPTERS[connection.provider].webhooks
    const message = webhooks?.translate(event.body) ?? null
    const { end, moved } = await takeMessage(tx, event.connectionId, message, event.receivedAt)
    await endKycEvent(client, id, end)
    return moved
  })
}

async function giveUp(deps: KycEventsDeps, id: string): Promise<void> {
  await runChange(deps, async ({ client, ids, now }) => {
    const event = await lockKycEvent(client, id)
    if (event === null) return
    await endKycEvent(client, id, { status: 'failed', reason: 'internal', customerId: null, subjectId: null })
    await writeEvent(client, {
      id: ids.next(),
      createdAt: now,
      customerId: null,
      operatorId: event.operatorId,
      shard: shardOf(event.operatorId),
      type: 'provider_event.failed',
      object: 'provider_event',
      objectId: id,
      status: 'failed',
      previousStatus: 'received',
      amount: null,
      currency: null,
    })
  })
}
