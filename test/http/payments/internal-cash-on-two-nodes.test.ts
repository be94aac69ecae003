/** The promises about the cash of payments on the platform, against two nodes that hold no leases. */
process.env['TEST_NODES'] = '2'

await import('./internal-cash.test.ts')
