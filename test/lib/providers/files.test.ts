/** Files for banks: when they are sent, what the bank's files do to an order, and which configurations are refused. */
import t from 'tap'
import { filesConfigFault, type FilesConfig } from '../../../lib/providers/files/files-config.ts'
import { fileDueAt } from '../../../lib/providers/files/gathering.ts'
import { hear, type FileOrderStatus, type Told } from '../../../lib/providers/files/order-state.ts'

const AMOUNT = 100n

t.test('what a file tells moves an order, and a booking counts more than a status', async (t) => {
  const status = (of: Told['status']): Told => ({ by: 'status', status: of, amount: null })
  const booking = (of: Told['status'], amount = AMOUNT): Told => ({ by: 'booking', status: of, amount })
  const cases: readonly [
    before: FileOrderStatus,
    told: Told,
    after: FileOrderStatus,
    counts: boolean,
    wrong: boolean,
  ][] = [
    ['gathered', status('accepted'), 'accepted', true, false],
    ['sent', status('rejected'), 'rejected', true, false],
    ['accepted', status('settled'), 'settled', true, false],
    ['rejected', status('rejected'), 'rejected', true, false],
    ['rejected', status('accepted'), 'rejected', false, true],
    ['rejected', status('settled'), 'rejected', false, true],
    ['settled', status('accepted'), 'settled', true, false],
    ['settled', status('rejected'), 'settled', false, true],
    ['returned', status('rejected'), 'returned', false, true],
    ['returned', status('settled'), 'returned', true, false],
    ['sent', booking('settled'), 'settled', true, false],
    ['settled', booking('settled'), 'settled', true, false],
    ['sent', booking('settled', 99n), 'sent', false, true],
    ['rejected', booking('settled'), 'settled', true, true],
    ['settled', booking('returned', 40n), 'returned', true, false],
    ['settled', booking('returned', 101n), 'settled', false, true],
    ['returned', booking('settled'), 'returned', true, false],
  ]
  for (const [before, told, after, counts, wrong] of cases) {
    const heard = hear({ status: before, isBooked: false, amount: AMOUNT }, told)
    const what = `${before}, ${told.by} ${told.status}`
    t.equal(heard.status, after, what)
    t.equal(heard.counts, counts, `${what}: the payment is told`)
    t.equal(heard.contradiction !== null, wrong, `${what}: a contradiction`)
  }
})

t.test('orders are gathered, never past the cut-off, and instant ones never', (t) => {
  const at = (time: string) => Date.parse(`2026-11-23T${time}:00Z`)
  const due = (time: string, rail: 'sepa' | 'sepa_instant' = 'sepa') =>
    fileDueAt(
      { rail, executionDate: '2026-11-23' },
      { now: at(time), gatherMs: 600_000, terms: { cutOffs: { sepa: '15:00' } } },
    )
  // The rail's day is that of Brussels.
  t.equal(due('09:00'), at('09:10'))
  t.equal(due('13:50'), at('13:58'), 'two minutes before the cut-off')
  t.equal(due('13:59'), at('13:59'), 'at once when it is near')
  t.equal(due('18:00'), at('18:00'), 'at once when it has passed')
  t.equal(due('09:00', 'sepa_instant'), at('09:00'))
  t.end()
})

t.test('a configuration fits its transport', (t) => {
  const sftp: FilesConfig = {
    transport: 'sftp',
    host: 'sftp.bank.example',
    username: 'norden',
    hostKeys: [`SHA256:${'A'.repeat(43)}`],
    paths: { outgoing: '/out', incoming: '/in' },
    settlementAccounts: [{ currency: 'EUR', accountRef: 'NL02ABNA0123456789' }],
    initiatingParty: { name: 'Norden Bank' },
  }
  const { host: _, username: __, hostKeys: ___, ...rest } = sftp
  const directory: FilesConfig = { ...rest, transport: 'directory', paths: { outgoing: 'out', incoming: 'in' } }
  t.equal(filesConfigFault(sftp), null)
  t.equal(filesConfigFault(directory), null)
  t.match(filesConfigFault({ ...rest, host: 'sftp.bank.example' }), /needs username, hostKeys/)
  t.match(filesConfigFault({ ...directory, port: 22 }), /has no port/)
  t.match(filesConfigFault({ ...directory, paths: { outgoing: '/out', incoming: 'in' } }), /must not begin/)
  t.match(filesConfigFault({ ...sftp, paths: { outgoing: 'x', incoming: 'x' } }), /must differ/)
  const [account] = sftp.settlementAccounts
  t.match(filesConfigFault({ ...sftp, settlementAccounts: [account!, account!] }), /one settlement account/)
  t.end()
})
