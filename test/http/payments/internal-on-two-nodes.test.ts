/** The promises about payments within the platform, against two nodes that hold no leases. */
process.env['TEST_NODES'] = '2'

await import('./internal.test.ts')
