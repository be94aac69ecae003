/** The day of scheduled payments, against two nodes without leases, whose timers run at the same moment. */
process.env['TEST_NODES'] = '2'

await import('./due-day.test.ts')
