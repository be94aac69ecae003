/** Webhooks: endpoints of integrators, the relay of events to them, and the news to their owners. */
import type { Node } from '../runtime/node.ts'
import { Webhooks, type WebhooksOptions } from './event-relay.ts'
import { createResolve } from './sender.ts'
import { createEndpointOwners } from './endpoint-owners.ts'
import { createWebhookCommands, createWebhookReads } from './webhook-operations.ts'

/** Name resolution of receivers, and the random part of the delay of retries; tests replace them. */
export type WebhookParts = Partial<Pick<WebhooksOptions, 'resolve' | 'chance'>>

export type WebhookService = ReturnType<typeof createWebhookService>

/** Creates the service. */
export function createWebhookService(node: Node, parts: WebhookParts = {}) {
  const { config, random, system, workers } = node
  const policy = config.webhookTargets
  const resolve = parts.resolve ?? createResolve(policy)
  const owners = createEndpointOwners(node)
  const relay = new Webhooks({
    ...node,
    signBatch: workers.signBatch,
    policy,
    resolve,
    chance: parts.chance ?? (() => Buffer.from(random(4)).readUInt32LE() / 2 ** 32),
    tellStatus: owners.tellStatus,
  })
  system.onCommitted(() => relay.nudge())
  return {
    reads: createWebhookReads(node),
    commands: createWebhookCommands({ ...node, policy, resolve, webhooks: relay, owners }),
    background: [
      {
        name: 'webhooks',
        start: () => relay.start(),
        stop: () => relay.stop(),
        runOnce: () => relay.runOnce(),
      },
    ],
    relay,
  }
}
