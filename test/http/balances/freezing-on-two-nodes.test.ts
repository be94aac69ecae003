/** The API's promises about balances that staff freeze, against two nodes without leases. */
process.env['TEST_NODES'] = '2'

await import('./freezing.test.ts')
