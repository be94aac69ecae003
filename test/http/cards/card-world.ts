/** Cards for tests: issued by the owner of the seeded customer, and used by simulations. */
import { randomUUID } from 'node:crypto'
import type { Card, CardTransaction } from '../../../lib/cards/card-schema.ts'
import type { Reply } from '../../support/client.ts'
import type { Person } from '../../support/person.ts'
import type { World } from '../../support/world.ts'

export const EUR = (amountMinor: number) => ({ amountMinor: String(amountMinor), currency: 'EUR' })

/** The answer of a simulated message. */
export interface Simulated {
  readonly details: {
    readonly ref: string
    readonly cardTransactionId: string
    readonly approved: boolean
    readonly declineReason: string | null
  }
}

/** The owner of the seeded customer with the operations of cards. */
export async function cardWorld(world: World) {
  const { client, balances } = world.seeded
  const owner = await world.person('owner').signIn()
  const ownerId = (await owner.send<{ user: { id: string } }>('GET', '/sessions/current')).body.user.id
  return {
    client,
    balances,
    owner,
    ownerId,
    /** Issues a virtual card of the owner on the balance in EUR. @throws Error with the refusal */
    async issue(rest: object = {}, person: Person = owner): Promise<Card> {
      await person.stepUp('card.manage')
      const made = await person.send<Card>('POST', '/cards', {
        balanceId: balances.EUR,
        holderUserId: ownerId,
        type: 'virtual',
        ...rest,
      })
      if (made.status !== 201) throw new Error(made.text)
      return made.body
    },
    /** Lets the network tell a message about a card. */
    use: (card: Pick<Card, 'id'>, body: object, key: string = randomUUID()): Promise<Reply<Simulated>> =>
      client.post<Simulated>(`/simulations/cards/${card.id}/transactions`, body, key),
    async available(): Promise<number> {
      const { body } = await client.get<{ availableBalance: { amountMinor: string } }>(`/balances/${balances.EUR}`)
      return Number(body.availableBalance.amountMinor)
    },
    read: async (id: string): Promise<CardTransaction> =>
      (await client.get<CardTransaction>(`/card-transactions/${id}`)).body,
  }
}
