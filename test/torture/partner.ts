/**
 * The webhooks of the bank behind both connections: it tells again what it makes of payments, each fact by several
 * events, each event twice, in no order, through any node. A webhook that no node takes is sent again for a while.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { webhookSecretContext } from '../../lib/providers/connection.ts'
import { createSecretBox } from '../../lib/security/secret-box.ts'
import { generateSecret, sign } from '../../lib/webhooks/signature.ts'
import type { Cluster } from '../support/cluster.ts'
import type { Random } from '../support/random.ts'

/** Payments that one round is about, and webhooks that are under way at a time. */
const TOLD_MAX = 60
const AT_ONCE = 16
const ATTEMPTS_MAX = 10
const RETRY_MS = 300
const ANSWER_WITHIN_MS = 5_000

interface Order {
  readonly reference: string
  readonly connection_id: string
  readonly ends: 'settled' | 'rejected'
  readonly scheme_code: string | null
}

interface Webhook {
  readonly connectionId: string
  readonly eventId: string
  readonly body: string
}

export class Partner {
  readonly #cluster: Cluster
  readonly #random: Random
  readonly #secret = generateSecret()

  private constructor(cluster: Cluster, random: Random) {
    this.#cluster = cluster
    this.#random = random
  }

  /** Gives all connections the partner's secret. `secretsKey`: the SECRETS_KEY of the nodes. */
  static async connect(cluster: Cluster, random: Random, secretsKey: string): Promise<Partner> {
    const partner = new Partner(cluster, random)
    const box = createSecretBox(secretsKey)
    for (const { id } of await cluster.query<{ id: string }>('select id from provider_connection'))
      await cluster.query('update provider_connection set webhook_secret = $2, version = version + 1 where id = $1', [
        id,
        box.seal(partner.#secret, webhookSecretContext(id)),
      ])
    return partner
  }

  /** A new key for the secrets of nodes. */
  static newSecretsKey(): string {
    return randomBytes(32).toString('hex')
  }

  /** Tells of the newest payments. @returns how many webhooks were taken, of how many */
  async tell(): Promise<{ readonly taken: number; readonly sent: number }> {
    const orders = await this.#cluster.query<Order>(
      `select reference, connection_id, case when state = 'accepted' then next_event else state end as ends, scheme_code from sandbox_order
       where (state in ('settled', 'rejected') or (state = 'accepted' and next_event in ('settled', 'rejected')))
       order by received_at desc limit $1`,
      [TOLD_MAX],
    )
    const due = this.#shuffled(orders.flatMap((order) => this.#webhooksAbout(order)).flatMap((each) => [each, each]))
    const rest = due.values()
    let taken = 0
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (const webhook of rest) if (await this.#deliver(webhook)) taken += 1
      }),
    )
    return { taken, sent: due.length }
  }

  #webhooksAbout({ reference, connection_id: connectionId, ends, scheme_code: schemeCode }: Order): Webhook[] {
    const words = ['pending', ends, ...(this.#random.chance(0.5) ? [ends] : [])]
    return words.map((word) => {
      const eventId = randomUUID()
      const data = { reference, ...(word === 'rejected' && schemeCode !== null ? { schemeCode } : {}) }
      const body = { id: eventId, type: `payment.${word}`, occurredAt: new Date().toISOString(), data }
      return { connectionId, eventId, body: JSON.stringify(body) }
    })
  }

  #shuffled<Item>(items: readonly Item[]): Item[] {
    const mixed = [...items]
    for (let last = mixed.length - 1; last > 0; last--) {
      const other = this.#random.int(0, last)
      ;[mixed[last], mixed[other]] = [mixed[other] as Item, mixed[last] as Item]
    }
    return mixed
  }

  async #deliver({ connectionId, eventId, body }: Webhook): Promise<boolean> {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const node = this.#cluster.live[attempt % Math.max(1, this.#cluster.live.length)]
      const timestamp = Math.floor(Date.now() / 1_000)
      const { standard } = sign({ eventId, timestamp, body, secrets: [this.#secret] })
      const status =
        node === undefined
          ? 0
          : await fetch(`${node.url}/v1/provider-webhooks/${connectionId}`, {
              method: 'POST',
              headers: {
                'content-type': 'application/json',
                'webhook-id': eventId,
                'webhook-timestamp': String(timestamp),
                'webhook-signature': standard,
              },
              body,
              signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
            }).then(
              (answer) => answer.status,
              () => 0,
            )
      if (status === 202) return true
      if (status !== 0 && status !== 503 && status !== 429)
        throw new Error(`A webhook of the bank was answered ${status}.`)
      await pause(RETRY_MS)
    }
    return false
  }
}
