/** The third occurrence that comes to nothing, against two nodes without leases, whose timers run at the same moment. */
process.env['TEST_NODES'] = '2'

await import('./third-failure.test.ts')
