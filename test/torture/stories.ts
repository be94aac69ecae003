/**
 * Tasks of integrators with several steps: files that are sent in, checked and submitted; schedules that are run,
 * paused and cancelled; requests for money that is paid in parts. A story yields where it has to wait for the service,
 * and is gone on with when somebody comes back to it; when the run ends it is left where it is. Whatever it asks for is
 * decided before it yields.
 */
import { randomUUID } from 'node:crypto'

import type { CreatedCustomer } from '../../storage/seed/seed-customers.ts'
import type { Random } from '../support/random.ts'
import { ANSWERS, type Call, type Closing, type Command, type CommandKind, type Rest, type Wanted } from './history.ts'

export type Story = AsyncGenerator<void, void, void>

/** A command to be, and what is sent. */
export interface Asking {
  readonly key?: string
  readonly kind: CommandKind
  readonly path: string
  readonly wants?: readonly Wanted[]
  readonly about?: string
  readonly quoteId?: string
  /** JSON, or a form. */
  readonly body?: object | { readonly type: string; readonly bytes: Uint8Array<ArrayBuffer> }
}

/** How a story speaks to the service. */
export interface Desk {
  readonly random: Random
  readonly customers: readonly CreatedCustomer[]
  /** Customers whose larger payments wait for people. */
  readonly careful: readonly CreatedCustomer[]
  /** Sends a command until it is decided. @returns the answer */
  ask(customer: CreatedCustomer, asking: Asking): Promise<Call>
  /** Reads from any node; null when nobody answered just now. */
  read<Shown>(customer: CreatedCustomer, path: string): Promise<Shown | null>
  /** Sends once what has no key; null when nothing was said for certain, and it may happen at any time. */
  send(customer: CreatedCustomer, path: string): Promise<number | null>
  /** The texts that tell the bank what to make of a payment, and how that ends. */
  trigger(): { readonly reference: string; readonly ends: string }
  rest(rest: Rest): void
  /**
   * Sends once what has no key, with the customer's own key or as the customer's owner; null when nothing was said for
   * certain.
   */
  write(
    customer: CreatedCustomer,
    request: {
      readonly method: 'POST' | 'PATCH'
      readonly path: string
      readonly body: object
      readonly asOwner?: boolean
    },
  ): Promise<{ readonly status: number; readonly text: string } | null>
  quote(
    customer: CreatedCustomer,
    body: object,
  ): Promise<{
    readonly id: string
    readonly sellAmount: { readonly amountMinor: string }
    readonly buyAmount: object
  } | null>
  closing(closing: Closing): void
  /** An edit that was answered with a yes and had to be refused. */
  lateEdit(edit: object): void
  /** Epoch milliseconds. */
  now(): number
}

/** How often each is begun. */
const SHARES: readonly (readonly [share: number, story: (desk: Desk) => Story])[] = [
  [0.25, fileStory],
  [0.2, scheduleStory],
  [0.2, requestStory],
  [0.2, conversionStory],
  [0.15, draftStory],
]

/** Begins a story. */
export function begin(desk: Desk): Story {
  let dice = desk.random.next()
  return (SHARES.find(([share]) => (dice -= share) < 0) ?? SHARES[0]!)[1](desk)
}

const isYes = (kind: Command['kind'], { status }: Call): boolean => status === ANSWERS[kind].yes
const bodyOf = <Shown>({ answer }: Call): Shown => JSON.parse(answer) as Shown
const euros = (amount: bigint) => ({ amountMinor: String(amount), currency: 'EUR' })
/** The balances in euro of a customer: its purse, and the two that are fought over. */
const eurosOf = ({ balanceIds }: CreatedCustomer): readonly [purse: string, one: string, other: string] =>
  balanceIds.slice(0, 3) as [string, string, string]

/** Cancels something under a key. @returns whether it is cancelled */
async function cancel(
  desk: Desk,
  customer: CreatedCustomer,
  { path, about }: { readonly path: string; readonly about: string },
): Promise<boolean> {
  const asked = desk.now()
  const call = await desk.ask(customer, { kind: 'cancellation', path: `${path}/cancel`, about })
  const isDone = isYes('cancellation', call)
  if (isDone) desk.rest({ about, asked, from: call.end, until: Infinity, cancelled: true })
  return isDone
}

// ── Files
// ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

interface File {
  readonly id: string
  readonly status: string
  readonly counts: { readonly submitted: number; readonly failed: number }
}

const ROWS = [5, 40] as const
/** Its run stands still after the first payment, until it is submitted again or cancelled, which takes two minutes. */
const STALL = 'SBX:STALL'
/** Rows of nobody: the check of the file finds them. */
const STRANGERS = 0.05
/** Those who have one that stands still: it takes one of the few places for runs. */
const stalling = new WeakSet<Desk>()

async function* fileStory(desk: Desk): Story {
  const { random } = desk
  const customer = random.pick(desk.customers)
  const stalls = !stalling.has(desk) && random.chance(0.1)
  if (stalls) stalling.add(desk)
  try {
    const [purse, one, other] = eurosOf(customer)
    const from = random.pick([purse, one, one, other, other])
    const key = randomUUID()
    const rows = Array.from({ length: random.int(...ROWS) }, () => ({
      name: randomUUID(),
      amount: BigInt(random.int(100, 1_000)),
      ...desk.trigger(),
      isStranger: random.chance(STRANGERS),
    }))
    const form = await formOf({
      name: stalls ? `${STALL} ${key}` : key,
      sourceBalanceId: from,
      file: [
        'recipient_id,currency,amount,reference,external_id',
        ...rows.map(({ name, amount, reference, isStranger }) =>
          [isStranger ? randomUUID() : customer.recipients!.EUR, 'EUR', inMajor(amount), reference, name].join(','),
        ),
      ].join('\n'),
    })
    const made = await desk.ask(customer, { key, kind: 'file', path: '/v1/bulk-payments', body: form })
    if (!isYes('file', made)) return
    const path = `/v1/bulk-payments/${bodyOf<File>(made).id}`
    const read = () => desk.read<File>(customer, path)
    // Some are given up before anybody knows what is in them.
    if (random.chance(0.05) && (await cancel(desk, customer, { path, about: key }))) return
    while (((await read()) ?? { status: 'validating' }).status === 'validating') yield
    if (random.chance(0.1)) return
    const wants = rows.map(
      ({ name, amount, ends }): Wanted => ({ name, kind: 'payment', from, to: null, amount, ends }),
    )
    const submit = () => desk.ask(customer, { kind: 'submission', path: `${path}/submit`, wants, about: key })
    // Cancelled and submitted at once: one of them is first. Submitted by two: both hear of one run.
    const calls = await Promise.all([
      submit(),
      ...(random.chance(0.15) ? [submit()] : []),
      ...(random.chance(0.15) ? [cancel(desk, customer, { path, about: key })] : []),
    ])
    if (!stalls || !isYes('submission', calls[0])) return
    for (
      let file = await read();
      file === null || (file.status === 'submitting' && file.counts.submitted + file.counts.failed === 0);
      file = await read()
    )
      yield
    if (random.chance(0.5)) {
      await submit()
      return
    }
    while (!(await cancel(desk, customer, { path, about: key }))) {
      const file = await read()
      if (file !== null && file.status !== 'submitting') return
      yield
    }
  } finally {
    if (stalls) stalling.delete(desk)
  }
}

/** Minor units of the euro as people write them. */
const inMajor = (amount: bigint): string => `${amount / 100n}.${String(amount % 100n).padStart(2, '0')}`

/** A form as a browser sends it; the same bytes each time it is sent. */
async function formOf({ file, ...fields }: Readonly<Record<string, string>> & { readonly file: string }): Promise<{
  readonly type: string
  readonly bytes: Uint8Array<ArrayBuffer>
}> {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  form.append('file', new Blob([file]), 'payments.csv')
  const written = new Response(form)
  return { type: written.headers.get('content-type') as string, bytes: new Uint8Array(await written.arrayBuffer()) }
}

// ── Schedules
// ─────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Far enough off that no day of it comes by itself. */
const START_DAYS = [3, 40] as const
const DAY_MS = 86_400_000
const RUNS = [1, 5] as const

interface Occurrences {
  readonly data: readonly { readonly number: number; readonly status: string }[]
}

async function* scheduleStory(desk: Desk): Story {
  const { random } = desk
  const customer = random.pick(desk.customers)
  const [purse, one, other] = eurosOf(customer)
  const from = random.pick([purse, one, other])
  const key = randomUUID()
  let amount = BigInt(random.int(100, 1_000))
  const { reference, ends } = desk.trigger()
  const made = await desk.ask(customer, {
    key,
    kind: 'schedule',
    path: '/v1/scheduled-payments',
    body: {
      recipientId: customer.recipients!.EUR,
      sourceBalanceId: from,
      amount: euros(amount),
      reference,
      frequency: random.pick(['daily', 'weekly', 'monthly']),
      externalId: key,
      startDate: new Date(desk.now() + random.int(...START_DAYS) * DAY_MS).toISOString().slice(0, 10),
      ...(random.chance(0.3) ? { maxOccurrences: random.int(1, 3) } : {}),
    },
  })
  if (!isYes('schedule', made)) return
  const { id } = bodyOf<{ readonly id: string }>(made)
  const path = `/v1/scheduled-payments/${id}`
  /** Whether it is known to have stopped by itself; without an answer nobody knows. */
  const hasStopped = async () =>
    ((await desk.read<{ readonly status: string }>(customer, path)) ?? { status: 'active' }).status !== 'active'
  const past = async () => (await desk.read<Occurrences>(customer, `${path}/occurrences?limit=1`))?.data ?? null
  /** Days are counted; the next one has the number behind the last. */
  const run = (last: number) =>
    desk.ask(customer, {
      kind: 'run',
      path: `/v1/simulations/scheduled-payments/${id}/run-now`,
      about: key,
      wants: [{ name: `${key}/${last + 1}`, kind: 'payment', from, to: null, amount, ends }],
    })
  /**
   * Edits the schedule between two of its days. @returns false without an answer: the edit may have been made, or may
   * still be
   */
  const edit = async () => {
    const next = BigInt(random.int(100, 1_000))
    const answer = await desk.write(customer, { method: 'PATCH', path, body: { amount: euros(next) } })
    if (answer === null || answer.status >= 500) return false
    if (answer.status === 200) amount = next
    return true
  }
  /** The day that was asked for last: while it is not to be seen, it may still be made, at either amount. */
  let asked = 0
  for (let left = random.int(...RUNS); left > 0; left--) {
    let seen = await past()
    while (seen === null) {
      yield
      seen = await past()
    }
    const last = seen[0]?.number ?? 0
    // A day that is being made may have either amount, so edits wait until none is.
    if (random.chance(0.4) && last >= asked && !seen.some(({ status }) => status === 'due') && !(await edit())) return
    if (!isYes('run', await run(last))) break
    asked = last + 1
    // Most wait until it is made; others pause or cancel at the same moment.
    if (random.chance(0.6)) {
      while (!(await past())?.some(({ number, status }) => number > last && status !== 'due')) {
        yield
        if (await hasStopped()) break
      }
    } else if (random.chance(0.4) || !(yield* pauseAndResume(desk, customer, { path, about: key }))) break
  }
  if (random.chance(0.7) && (await cancel(desk, customer, { path, about: key }))) {
    const seen = await past()
    // Too late: the answer is no, and nothing comes of it.
    if (seen !== null) await run(seen[0]?.number ?? 0)
  }
}

/** Pauses a schedule for a while; neither has a key. @returns false when it does not go on, or nobody can say */
async function* pauseAndResume(
  desk: Desk,
  customer: CreatedCustomer,
  { path, about }: { readonly path: string; readonly about: string },
): AsyncGenerator<void, boolean, void> {
  const asked = desk.now()
  const paused = await desk.send(customer, `${path}/pause`)
  if (paused !== 200) {
    // Without an answer it may have happened, and may still happen.
    if (paused === null) desk.rest({ about, asked: Infinity, from: Infinity, until: Infinity, cancelled: false })
    return false
  }
  const rest = { about, asked, from: desk.now(), until: Infinity, cancelled: false }
  desk.rest(rest)
  yield
  rest.until = desk.now()
  return (await desk.send(customer, `${path}/resume`)) === 200
}

// ── Requests for money
// ────────────────────────────────────────────────────────────────────────────────────────────────

const PARTS = [1, 5] as const

async function* requestStory(desk: Desk): Story {
  const { random } = desk
  const customer = random.pick(desk.customers)
  const [, one, other] = eurosOf(customer)
  const balanceId = random.pick([one, other])
  const key = randomUUID()
  const asked = random.int(300, 2_000)
  const made = await desk.ask(customer, {
    key,
    kind: 'request',
    path: '/v1/funds-requests',
    body: {
      balanceId,
      amount: euros(BigInt(asked)),
      payer: { name: 'Amsterdam Trading BV' },
      description: 'Consulting in April',
      externalId: key,
    },
  })
  if (!isYes('request', made)) return
  const { id, reference } = bodyOf<{ readonly id: string; readonly reference: string }>(made)
  for (let left = random.int(...PARTS); left > 0; left--) {
    // A part, the rest of it, or more than anybody asked for.
    const amount = BigInt(random.chance(0.3) ? asked : random.int(50, asked))
    const name = randomUUID()
    // The bank's own text for it has room for 35 characters.
    await desk.ask(customer, {
      key: name,
      kind: 'arrival',
      path: '/v1/simulations/incoming-payments',
      about: key,
      body: {
        balanceId,
        amount: euros(amount),
        reference: `Invoice 42 ${reference}`,
        endToEndId: name.replaceAll('-', ''),
      },
      wants: [{ name: name.replaceAll('-', ''), kind: 'arrival', from: null, to: balanceId, amount, ends: 'received' }],
    })
    if (random.chance(0.1)) await cancel(desk, customer, { path: `/v1/funds-requests/${id}`, about: key })
    if (random.chance(0.5)) yield
  }
}

// ── Payments whose money is bought first, and the balances that pay them
// ──────────────────────────────────────────────

/** Amounts sold that the partner refuses, or leaves without an answer for a minute, so that staff may be quicker. */
const REFUSED = 1_309n
const DOUBTED = 1_501n
/** How often the owner tries to close the balance before leaving it open. */
const CLOSINGS_MAX = 40
/** The bank's outcome of a payment; money that comes back may find the balance closed. */
const ENDS: readonly (readonly [reference: string, ends: string])[] = [
  ['Invoice 42', 'completed'],
  ['Invoice 42', 'completed'],
  ['Invoice 42 SBX/AC04', 'failed'],
  ['Invoice 42 SBX/RET-AC04', 'returned'],
  ['Invoice 42 SBX/TIMEOUT-FAIL', 'failed'],
]

async function* conversionStory(desk: Desk): Story {
  const { random } = desk
  const customer = random.pick(desk.customers)
  const from = random.pick(eurosOf(customer))
  const opened = await desk.write(customer, {
    method: 'POST',
    path: '/v1/balances',
    body: { currency: 'USD', name: 'For one payment' },
    asOwner: true,
  })
  if (opened?.status !== 201) return
  const buyBalanceId = (JSON.parse(opened.text) as { readonly id: string }).id
  const amount = random.chance(0.4) ? DOUBTED : random.chance(0.2) ? REFUSED : BigInt(random.int(200, 1_200))
  const quote = await desk.quote(customer, {
    sellCurrency: 'EUR',
    buyCurrency: 'USD',
    amount: euros(amount),
    fixedSide: 'sell',
    sellBalanceId: from,
    buyBalanceId,
  })
  if (quote === null) return
  const key = randomUUID()
  const [reference, ends] = random.pick(ENDS)
  const pay = () =>
    desk.ask(customer, {
      key,
      kind: 'conversion',
      path: '/v1/payments',
      quoteId: quote.id,
      body: {
        sourceBalanceId: from,
        recipientId: customer.recipients!.USD,
        amount: quote.buyAmount,
        reference,
        purposeCode: 'SUPP',
        quoteId: quote.id,
        externalId: key,
      },
      wants: [{ name: key, kind: 'payment', from, to: null, amount, ends: amount === REFUSED ? 'failed' : ends }],
    })
  const closing: Closing = { balanceId: buyBalanceId, from: Infinity }
  desk.closing(closing)
  const close = async () => {
    const answer = await desk.write(customer, {
      method: 'POST',
      path: `/v1/balances/${buyBalanceId}/close`,
      body: { sweepToBalanceId: customer.balanceIds[3] },
      asOwner: true,
    })
    if (answer?.status === 200) closing.from = desk.now()
    return answer?.status === 200
  }
  if (!isYes('conversion', await pay())) return
  // From here on at any moment: while the exchange is in doubt, while the bank has the payment, before it gives the
  // money back.
  for (let left = CLOSINGS_MAX; left > 0 && !(await close()); left--) yield
}

// ── Drafts, and what is edited while it waits for people
// ──────────────────────────────────────────────────────────────

async function* draftStory(desk: Desk): Story {
  const { random } = desk
  const customer = random.pick(desk.careful)
  const [purse, one, other] = eurosOf(customer)
  const from = random.pick([purse, one, other])
  const key = randomUUID()
  /**
   * Above 1 000 a draft waits for an approver, which is the sandbox here; from 1 301 on amounts tell the sandbox what
   * to do.
   */
  const anyAmount = () => BigInt(random.int(100, 1_300))
  const { reference, ends } = desk.trigger()
  const made = await desk.ask(customer, {
    key,
    kind: 'draft',
    path: '/v1/payments',
    body: {
      sourceBalanceId: from,
      recipientId: customer.recipients!.EUR,
      amount: euros(anyAmount()),
      reference: `${reference} SBX/APPROVE`,
      externalId: key,
      draft: true,
    },
  })
  if (!isYes('draft', made)) return
  const path = `/v1/payments/${bodyOf<{ readonly id: string }>(made).id}`
  const edit = (amount: bigint) => desk.write(customer, { method: 'PATCH', path, body: { amount: euros(amount) } })
  for (let left = random.int(0, 2); left > 0; left--) {
    if ((await edit(anyAmount())) === null) return
    yield
  }
  const draft = await desk.read<{ readonly amount: { readonly amountMinor: string } }>(customer, path)
  if (draft === null) return
  const [amount, or] = [BigInt(draft.amount.amountMinor), anyAmount()]
  // Submitted and edited at one moment: the payment has one amount or the other, and whichever it has is what people
  // are shown.
  const [submitted] = await Promise.all([
    desk.ask(customer, {
      kind: 'draft_submission',
      path: `${path}/submit`,
      about: key,
      wants: [{ name: key, kind: 'payment', from, to: null, amount, or, ends }],
    }),
    ...(random.chance(0.5) ? [edit(or)] : []),
  ])
  if (!isYes('draft_submission', submitted)) return
  for (let left = random.int(1, 4); left > 0; left--) {
    const late = await edit(anyAmount())
    if (late?.status === 200) desk.lateEdit({ path, submitted, late })
    yield
  }
}
