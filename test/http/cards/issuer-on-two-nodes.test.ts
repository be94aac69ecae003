/** The API's promises about messages of issuers, against two nodes that hold no leases; see transfers-on-two-nodes.test.ts. */
process.env['TEST_NODES'] = '2'

await import('./issuer-messages.test.ts')
