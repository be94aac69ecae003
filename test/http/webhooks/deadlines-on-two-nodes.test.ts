/** The deadlines of callbacks, against two nodes without leases, whose timers run at the same moment. */
process.env['TEST_NODES'] = '2'

await import('./deadlines.test.ts')
