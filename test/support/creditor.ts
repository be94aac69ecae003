/** A customer who collects by direct debit, with a bank whose messages a test sends. */
import { randomBytes } from 'node:crypto'
import { createAnswers } from '../../actors/commands/answers.ts'
import { DebitInbox } from '../../actors/direct-debits/debit-inbox.ts'
import { createDirectDebitService } from '../../actors/direct-debits/direct-debit-service.ts'
import type { Node } from '../../actors/runtime/node.ts'
import type { ManualClock } from '../../lib/base/clock.ts'
import type { CommandBytes } from '../../lib/commands/command.ts'
import type { CollectionMessage } from '../../lib/direct-debits/debit-messages.ts'
import { Client, command, PROBLEM_BASE, type Node as HistoryNode } from '../histories/nodes.ts'
import { ids } from './commands.ts'
import type { Ledger } from './ledger.ts'
import { Random } from './random.ts'

/** The fee of each return, minor units. */
const FEE = 35n

export class Creditor extends Client<HistoryNode> {
  readonly service: ReturnType<typeof createDirectDebitService>
  readonly inbox: DebitInbox

  constructor(ledger: Ledger, clock: ManualClock, node: HistoryNode) {
    super(ledger, clock, new Random(1), [node])
    const { world, system } = node
    const deps = {
      ...world,
      system,
      accounts: ledger.accounts,
      random: (bytes: number) => new Uint8Array(randomBytes(bytes)),
      answers: createAnswers(world),
      problemBase: PROBLEM_BASE,
      sandbox: true,
      dispatch: false,
    }
    this.service = createDirectDebitService(deps as unknown as Node)
    this.inbox = new DebitInbox({
      ...deps,
      returnTermsOf: async () => ({ fee: FEE, retryAt: null, challengeUntil: null }),
    })
  }

  override async next(): Promise<void> {
    /* It does what it is told. */
  }

  async mandate(): Promise<string> {
    const body = {
      direction: 'collect',
      scheme: 'sepa_dd_core',
      balanceId: this.ledger.balances[0]!,
      counterparty: { name: 'Ada Payer', iban: 'NL50SBOX0100000002' },
      signedAt: '2026-01-05',
    } as const
    return made(await this.service.commands.createMandate(command(this.by, '/v1/mandates', body, this.clock)))
  }

  /** Makes a collection of 12.00 and brings it to a status by messages of the bank. */
  async collection(mandateId: string, ...told: readonly Partial<CollectionMessage>[]): Promise<string> {
    const body = { mandateId, amount: { amountMinor: '1200', currency: 'EUR' }, reference: 'Invoice 42' } as const
    const asking = command(this.by, '/v1/collections', body, this.clock)
    const collectionId = made(await this.service.commands.createCollection(asking))
    for (const message of told) await this.tell(collectionId, message)
    return collectionId
  }

  /** Tells of a collection, by default that it was collected. */
  async tell(collectionId: string, message: Partial<CollectionMessage>): Promise<void> {
    await this.inbox.takeOne({
      id: ids.next(),
      type: 'collection.collected',
      connectionId: this.ledger.connectionId,
      source: 'partner',
      reasonCode: null,
      providerRef: null,
      collectionId,
      rType: null,
      amount: null,
      bookedOn: null,
      ...message,
    })
  }

  async reverse(id: string): Promise<void> {
    const asking = command(this.by, '/v1/collections', { reasonCode: 'DUPL' } as const, this.clock)
    await this.service.commands.reverseCollection(asking, id)
  }
}

const made = (answer: unknown): string => (JSON.parse((answer as CommandBytes).body) as { readonly id: string }).id
