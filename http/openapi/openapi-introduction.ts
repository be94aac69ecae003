/** The introduction of the contract, for first-time readers: the rules that all operations have in common. */
export const INTRODUCTION = `Accounts, recipients, payments and foreign exchange for customers of a banking platform.

- **Authentication.** Programs send an API key as \`Authorization: Bearer svc_…\`; people send the token of \`POST /sessions\`
  after its second factor. \`X-Tenant-Id\` names the customer or the operator that the request is about. A sandbox prints a key
  at its first start, and stores it with all ids in \`sandbox.json\`.
- **Money** is \`{"amountMinor": "1250", "currency": "EUR"}\`: minor units of the currency, as text, here 12.50 EUR. Times are
  UTC, ids are UUIDs.
- **Idempotency.** A request that moves money takes an \`Idempotency-Key\`; uploads, decisions and what else a repeat would do
  twice accept it. The same key with the same body (of a form: its fields and the bytes of its file) gets the same answer for
  24 hours, with \`Idempotency-Replayed: true\`; after a timeout send the same request again.
- **Concurrent changes.** A change names the \`ETag\` of the version it is based on as \`If-Match\`; the answer is 412 when the
  resource has changed since. Reads accept \`If-None-Match\`.
- **Lists** have pages: send \`page.nextCursor\` or \`page.prevCursor\` as \`cursor\`, with the same filters and sort. A filter is
  \`filter[status]=completed,failed\`.
- **Errors** are problem documents. Decide by \`code\`; \`errors[]\` points at each invalid member; \`retryable\` tells whether the
  same request may be sent again; \`requestId\` finds the request in the logs of the service.
- **Events.** Webhooks (\`POST /integrator-webhooks\`) report changes of resources; read the resource for its current state.
  \`GET /simulations\` lists the outcomes that a sandbox can simulate: by amounts, by words in texts and on demand.

Clients must ignore unknown response fields and tolerate new values of enumerations.`
