/** The deadline of reviews by staff, against two nodes without leases, whose timers run at the same moment. */
process.env['TEST_NODES'] = '2'

await import('./review-deadline.test.ts')
