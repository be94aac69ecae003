/** The promises about holds, against two nodes that hold no leases. */
process.env['TEST_NODES'] = '2'

await import('./holds.test.ts')
