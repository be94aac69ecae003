import t from 'tap'
import { sandboxScreener } from '../../../lib/sandbox/sandbox-screener.ts'

const hitOf = async (amount: bigint, reference: string, recipientName: string) =>
  (
    await sandboxScreener.screen([
      { id: 'p', amount, reference, recipientName },
      { id: 'other', amount: 1n, reference: 'Rent', recipientName: 'Nobody' },
    ])
  ).get('p') ?? null

t.test('tokens, amounts and names are found, and nothing else is', async (t) => {
  for (const [amount, reference, name, expected] of [
    [100n, 'Invoice 42', 'Amsterdam Trading BV', null],
    [1_600n, '', 'Amsterdam Trading BV', null],
    [1_602n, 'Invoice', 'Amsterdam Trading BV', 'people'],
    [1_601n, 'Invoice', 'Amsterdam Trading BV', 'released@30000'],
    [1_603n, 'Invoice', 'Amsterdam Trading BV', 'blocked@30000'],
    [100n, 'sbx:hold', 'Amsterdam Trading BV', 'people'],
    [100n, 'SBX/HOLD-RELEASE', 'Amsterdam Trading BV', 'released@30000'],
    [100n, 'Invoice', 'Amsterdam SBX:HOLD-BLOCK', 'blocked@30000'],
    [1_602n, 'SBX:AC04', 'Amsterdam Trading BV', null],
    [100n, 'Invoice', 'viktor SANCTIONOV', 'people'],
    [100n, 'Invoice', 'Sanctionov,  Viktor', 'people'],
    [100n, 'Invoice', 'Olafur Bannaður', 'people'],
    [100n, 'Invoice', 'Viktor Sanctionov Junior', null],
    [1_601n, 'Invoice', 'Frozen Assets Trading FZE', 'people'],
    [100n, 'Sanctionov', 'Viktor', null],
  ] as const) {
    const hit = await hitOf(amount, reference, name)
    const found =
      hit === null ? null : hit.decides === null ? 'people' : `${hit.decides.decision}@${hit.decides.afterMs}`
    t.equal(found, expected, `${amount} ${reference} ${name}`)
    if (hit !== null) t.match(hit, { provider: 'sandbox', findings: [{ list: /^SANDBOX-/, name: String, score: 100 }] })
  }
  t.equal((await sandboxScreener.screen([])).size, 0)
})
