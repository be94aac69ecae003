/** Money that staff hold until a moment, against two nodes without leases, whose timers run at the same moment. */
process.env['TEST_NODES'] = '2'

await import('./hold-deadline.test.ts')
