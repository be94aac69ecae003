/** The API's promises about cards, against two nodes that hold no leases; see transfers-on-two-nodes.test.ts. */
process.env['TEST_NODES'] = '2'

await import('./cards.test.ts')
