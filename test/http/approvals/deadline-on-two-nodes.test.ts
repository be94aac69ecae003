/** The deadline of approvals, against two nodes without leases, whose timers run at the same moment. */
process.env['TEST_NODES'] = '2'

await import('./deadline.test.ts')
