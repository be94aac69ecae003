/** The API's promises about customers that staff make, against two nodes without leases. */
process.env['TEST_NODES'] = '2'

await import('./customers.test.ts')
