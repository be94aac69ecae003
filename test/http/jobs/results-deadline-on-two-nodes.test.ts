/** The results of jobs, against two nodes without leases, whose timers run at the same moment. */
process.env['TEST_NODES'] = '2'

await import('./results-deadline.test.ts')
