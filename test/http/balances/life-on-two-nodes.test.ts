/** The API's promises about balances that people open, change and close, against two nodes without leases. */
process.env['TEST_NODES'] = '2'

await import('./life.test.ts')
