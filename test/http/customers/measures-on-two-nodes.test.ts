/** The API's promises about customers that staff restrict and suspend, against two nodes without leases. */
process.env['TEST_NODES'] = '2'

await import('./measures.test.ts')
