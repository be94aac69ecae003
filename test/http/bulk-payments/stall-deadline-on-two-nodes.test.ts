/** Runs that stand still, against two nodes without leases, whose timers run at the same moment. */
process.env['TEST_NODES'] = '2'

await import('./stall-deadline.test.ts')
