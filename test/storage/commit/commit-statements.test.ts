/**
 * The texts of the commit's statements: a change of the code that puts them together changes neither a text nor a name
 * unnoticed, because each text is prepared, and its plan was judged.
 *
 * `commit-statements.jsonl` has the turns, one commit a line; `commit-statements.golden` has what each of them sends.
 * `UPDATE_GOLDEN=1 npm test -- test/storage/commit/commit-statements.test.ts` writes it anew after an intended change.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import type { Effects } from '../../../lib/decisions/effects.ts'
import type { CommitTurn } from '../../../storage/commit/turn.ts'
import { commit } from '../../../storage/sections/commit.ts'

const TURNS = join(import.meta.dirname, 'commit-statements.jsonl')
const GOLDEN = join(import.meta.dirname, 'commit-statements.golden')

interface Recorded {
  readonly turns: readonly CommitTurn[]
  readonly nowMs: number
}

const readRecorded = (line: string): Recorded =>
  JSON.parse(line, (_, value: unknown) =>
    typeof value === 'object' && value !== null && 'bigint' in value ? BigInt(String(value.bigint)) : value,
  ) as Recorded

/** Runs a commit against a connection that records what it is sent, and answers nothing. */
async function sentBy({ turns, nowMs }: Recorded): Promise<string> {
  const sent: string[] = []
  const connection = {
    query: async ({ name, text, values }: { name: string; text: string; values: unknown[] }) => {
      sent.push(`${name}, ${values.length} values\n${text}`)
      return { rows: [] }
    },
  }
  const result = await commit(connection, turns, nowMs)
  return [...sent, result.ok ? 'written' : `refused: ${result.conflicts.map(({ kind }) => kind).join(', ')}`].join('\n')
}

t.test('the statements of commits are those of the golden file', async (t) => {
  const recorded = (await readFile(TURNS, 'utf8')).trimEnd().split('\n').map(readRecorded)
  const sent: string[] = []
  for (const each of recorded) sent.push(await sentBy(each))
  const text = `${sent.join('\n\n')}\n`
  if (process.env['UPDATE_GOLDEN'] === '1') await writeFile(GOLDEN, text)
  t.equal(text, await readFile(GOLDEN, 'utf8'))
  t.equal(new Set(sent.map((each) => each.split(',')[0])).size, recorded.length, 'each line has a statement of its own')
})

/** Every member of Effects; a member that is not named here does not compile. */
const MEMBERS: { readonly [Member in keyof Required<Effects>]: true } = {
  postings: true,
  holds: true,
  holdResolutions: true,
  statusUpdates: true,
  events: true,
  idempotency: true,
  credits: true,
  debits: true,
  places: true,
  cashOrders: true,
  approvals: true,
  complianceHolds: true,
  exceptions: true,
  exceptionEnds: true,
  outflows: true,
  documentUses: true,
  quotes: true,
  exchanges: true,
  exchangeChanges: true,
  fxOrders: true,
  fxOrdersDone: true,
  incomingDebits: true,
  incomingDebitChanges: true,
  incomingPayments: true,
  payments: true,
  paymentRewrites: true,
  paymentsDue: true,
  paymentsDueDone: true,
  paymentChanges: true,
  paymentDecisions: true,
  paymentReroutes: true,
  instructions: true,
  instructionsDone: true,
  attention: true,
  outflowReturns: true,
  payerMandates: true,
  providerEvents: true,
  facts: true,
  transfers: true,
  transferOrders: true,
  mandates: true,
  mandateChanges: true,
  collections: true,
  collectionChanges: true,
  exposureChanges: true,
  cardTransactions: true,
  cardTransactionChanges: true,
  cardEvents: true,
  cardUses: true,
}

t.test('the golden file has every member of Effects', async (t) => {
  const turns = (await readFile(TURNS, 'utf8'))
    .trimEnd()
    .split('\n')
    .flatMap((line) => readRecorded(line).turns)
  const found = new Set<string>()
  for (const { effects } of turns.flatMap(({ commands }) => commands))
    for (const [member, rows] of Object.entries(effects as Record<string, unknown>))
      if (!Array.isArray(rows) || rows.length > 0) found.add(member)
  t.strictSame([...found].sort(), Object.keys(MEMBERS).sort())
})
